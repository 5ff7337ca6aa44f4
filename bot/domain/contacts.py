"""Telephone numbers and e-mail addresses in what a reader sees: found, and told without giving them away."""

import re

_URL = re.compile(r"(?:https?|ftp)://[^\s<>\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]+", re.IGNORECASE)
_BLANK = r"[- \t\u00a0\u3000\u2010-\u2015\uff0d]"
# Mainland mobiles behind +86 or not, in one piece or in the usual two ways of cutting them. What stands around them
# tells them from parts of longer numbers, prices, decimals and DOIs.
_PHONE = re.compile(
    rf"(?=[(（+018])(?<!\d)(?<!\d\.)(?<!\d{_BLANK})(?<![$¥￥€£])(?<![$¥￥€£]\s)(?<!10\.\d{{4}}/)(?<!10\.\d{{5}}/)"
    rf"(?:[(（]?(?:\+|00)?86[)）]?{_BLANK}?)?"
    rf"(1[3-9]\d(?:({_BLANK}?)\d{{4}}\2|\d({_BLANK})\d{{3}}\3)\d{{4}})"
    rf"(?!{_BLANK}?\d|\.\d|[A-Za-z_]|\s*(?:[元块万亿%％]|美元|RMB|USD))"
)
# Not `pass@1.The`, but `@163.com`.
_EMAIL = re.compile(
    r"(?<![\w.%+@-])([A-Za-z0-9])[\w.%+-]{0,63}@((?!\d{1,2}\.)(?:[A-Za-z0-9-]{1,63}\.){1,5}[A-Za-z]{2,24})(?![\w@])",
    re.ASCII,
)
_NARROW = str.maketrans("０１２３４５６７８９＋＠", "0123456789+@")


def phones(text: str) -> tuple[str, ...]:
    """Mainland mobile numbers as `138****8000`, each once, in order; web addresses are not looked into."""
    return tuple(dict.fromkeys(_hidden_phone(match) for match in _PHONE.finditer(_seen(text))))


def emails(text: str) -> tuple[str, ...]:
    """Addresses as `e***@example.com`, each once, in order; web addresses are not looked into."""
    text = _seen(text)
    return tuple(dict.fromkeys(_hidden_email(match) for match in _EMAIL.finditer(text))) if "@" in text else ()


def masked(text: str) -> str:
    """The text with its numbers and addresses as above, so that it can be shown where they must not be."""
    text = _PHONE.sub(_hidden_phone, text.translate(_NARROW))
    return _EMAIL.sub(_hidden_email, text) if "@" in text else text


def _seen(text: str) -> str:
    return _URL.sub(" ", text.translate(_NARROW))


def _hidden_phone(match: re.Match[str]) -> str:
    return f"{match[1][:3]}****{match[1][-4:]}"


def _hidden_email(match: re.Match[str]) -> str:
    return f"{match[1]}***@{match[2]}"
