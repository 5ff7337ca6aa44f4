"""`python -m bot` and the `digest-bot` command."""

from bot.cli import main

if __name__ == "__main__":
    main()
