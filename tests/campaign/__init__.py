"""Long proofs of the sender, `python -m tests.campaign NAME`: they print figures and end by themselves."""
