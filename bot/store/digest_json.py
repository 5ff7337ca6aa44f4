"""A digest as JSON and back, exactly: the stored form of an edition. (The contract's shape has no blocks.)"""

from datetime import date, datetime
from typing import Any

from bot.domain import digest as model
from bot.domain.digest import Digest

_TYPES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(model.Digest, model.Section, model.Item),
        *(model.Paragraph, model.Heading, model.Listing, model.Quote, model.CodeBlock),
        *(model.Table, model.Image, model.Rule),
        *(model.Text, model.Strong, model.Emphasis, model.Code, model.Link, model.Formula),
    )
}


def dump(value: Any) -> Any:
    """Plain data: a dataclass becomes an object that names its type, dates become text."""
    if type(value).__name__ in _TYPES:
        return {"type": type(value).__name__, **{name: dump(getattr(value, name)) for name in value.__slots__}}
    if isinstance(value, tuple):
        return [dump(one) for one in value]
    if isinstance(value, datetime):
        return {"type": "datetime", "at": value.isoformat()}
    if isinstance(value, date):
        return {"type": "date", "on": value.isoformat()}
    return value


def load(data: dict[str, Any]) -> Digest:
    """Inverse of `dump`."""
    digest = _load(data)
    assert isinstance(digest, Digest)
    return digest


def _load(data: Any) -> Any:
    if isinstance(data, list):
        return tuple(_load(one) for one in data)
    if not isinstance(data, dict):
        return data
    kind = data["type"]
    if kind == "datetime":
        return datetime.fromisoformat(data["at"])
    if kind == "date":
        return date.fromisoformat(data["on"])
    return _TYPES[kind](**{name: _load(value) for name, value in data.items() if name != "type"})
