"""`digest-bot demo`: starts from nothing, stops when asked, goes on with what it had."""

import contextlib
import json
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

from bot.serving import listen
from tests.integration.bot_process import ROOT, clean_environ


def two_free_ports() -> int:
    """A port whose next one is free too."""
    while True:
        with contextlib.closing(listen("127.0.0.1", 0)) as first:
            port = int(first.getsockname()[1])
            with contextlib.suppress(Exception), contextlib.closing(listen("127.0.0.1", port + 1)):
                return port


@contextlib.contextmanager
def demo(port: int, data: Path):
    command = [sys.executable, "-m", "bot", "demo", "--port", str(port), "--data", str(data)]
    with subprocess.Popen(
        command, cwd=ROOT, env=clean_environ(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "stop with Ctrl-C" in line:
                break
        try:
            yield process
        finally:
            process.kill()


def get(url: str) -> str:
    with urllib.request.urlopen(url) as answer:
        return answer.read().decode()


def test_the_demo_starts_stops_and_starts_again_on_the_same_data(tmp_path):
    """Exit code 0 on a signal, and people, groups and the ledger are still there."""
    port = two_free_ports()
    with demo(port, tmp_path) as process:
        assert "读者甲" in get(f"http://127.0.0.1:{port + 1}/")
        checks = json.loads(get(f"http://127.0.0.1:{port}/readyz"))
        assert checks.pop("facts")["leads"]
        assert checks == {"database": True, "queue": True, "sender": True, "scheduler": True}
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0

    with demo(port, tmp_path) as process:
        page = get(f"http://127.0.0.1:{port + 1}/")
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0

    assert page.count("person-name") == 2
    assert len(list((tmp_path / "digests").iterdir())) == 2, "every start has something new to send"
