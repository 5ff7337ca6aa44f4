"""The key of a story: the same for the same link however it is decorated, different for different stories."""

import hashlib
import re
from collections import Counter
from urllib.parse import SplitResult, urlsplit

KEY_CHARS = 12

_TRACKING = re.compile(
    r"(?:utm_[^=]*|spm|from|fbclid|gclid|dclid|msclkid|mc_[ce]id|igshid|yclid|_hsenc|_hsmi|share_?token|isappinstalled)(?:=|$)",
    re.IGNORECASE,
)
_ARXIV_VERSION = re.compile(r"^(/(?:abs|pdf|html)/[\w.\-/]+?)v\d+(\.pdf)?$")
_DEFAULT_PORT = {"http": ":80", "https": ":443"}


class Keys:
    """Keys given out in one digest."""

    def __init__(self) -> None:
        self._given: set[str] = set()
        self._repeats: Counter[str] = Counter()

    def give(self, url: str | None, title: str | None, text: str) -> str:
        """A key that no other item of this digest has.

        It comes from the link, else from the title, else from the text. A second story with the same start takes in
        more of itself, so that its key does not depend on how many stories stand before it.
        """
        link = normalised_link(url) if url else ""
        parts = [part for part in (link, title, text) if part]
        candidates = [parts[: count + 1] for count in range(len(parts))] or [[""]]
        for candidate in candidates:
            if (key := _hashed(candidate)) not in self._given:
                break
        whole = key
        while key in self._given:
            self._repeats[whole] += 1
            key = _hashed([*candidates[-1], str(self._repeats[whole])])
        self._given.add(key)
        return key


def normalised_link(url: str) -> str:
    """The address without what does not choose the page: letter case of the host, default port, fragment, tracking."""
    try:
        split = urlsplit(url)
        host = _host(split)
    except ValueError:
        return url
    path = _ARXIV_VERSION.sub(r"\1\2", split.path) if host.endswith("arxiv.org") else split.path
    query = "&".join(pair for pair in split.query.split("&") if pair and not _TRACKING.match(pair))
    return f"{split.scheme.lower()}://{host}{path or '/'}{'?' if query else ''}{query}"


def _host(split: SplitResult) -> str:
    host = split.netloc.lower()
    return host.removesuffix(_DEFAULT_PORT.get(split.scheme.lower(), ""))


def _hashed(parts: list[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:KEY_CHARS]
