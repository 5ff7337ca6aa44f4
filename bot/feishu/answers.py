"""An answer as the body that the platform expects for a card callback, the same on every transport.

Source: feishu-platform notes 6.2.
"""

from bot.domain.inbound import Answer


def body_of(answer: Answer) -> dict[str, object]:
    """The JSON object to answer with; an empty one shows nothing."""
    body: dict[str, object] = {}
    if answer.toast is not None:
        body["toast"] = {"type": answer.tone, "content": answer.toast}
    if answer.card is not None:
        body["card"] = {"type": "raw", "data": answer.card}
    return body
