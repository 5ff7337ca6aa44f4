"""When an entry was published. A date that is not certain is none: a wrong day is worse than no day."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from email.utils import parsedate_to_datetime
from statistics import median_low

OLDEST_YEAR = 1995  # before feeds; what programs write for "never" is older
AHEAD_OF_ARRIVAL = timedelta(days=2)
AHEAD_OF_MOST = timedelta(days=31)
LONGEST_DATE_CHARS = 80

_YEAR_FIRST = re.compile(
    r"(?P<y>\d{4})\s*[-/.年]\s*(?P<m>\d{1,2})\s*[-/.月]\s*(?P<d>\d{1,2})\s*[日号]?"
    r"(?:\s*[(（]?(?:星期|周|礼拜)[一二三四五六日天][)）]?)?"
    r"(?:[\sT]*(?P<noon>上午|下午|AM|PM)?\s*(?P<h>\d{1,2})[:：时点](?P<min>\d{1,2})分?(?:[:：]?(?P<s>\d{1,2})秒?)?"
    r"\s*(?P<late>AM|PM)?)?",
    re.IGNORECASE,
)
_MONTH_NUMBERED = re.compile(
    r"(?P<d>\d{1,2})\s+(?P<m>\d{1,2})月\s+(?P<y>\d{4})\s+(?P<h>\d\d):(?P<min>\d\d)(?::(?P<s>\d\d))?\s*(?P<zone>[+-]\d{4})?"
)
_WEEKDAY = re.compile(r"[^\W\d]{2,12}\.?\s*[,，]\s*")  # in any language; the date says it anyway


def moment(written: object, zone: tzinfo) -> datetime | None:
    """The moment as written; one without a zone is in `zone`. None where the form is not one we know."""
    text = " ".join(written.split()) if isinstance(written, str) and len(written) <= LONGEST_DATE_CHARS else ""
    text = text[weekday.end() :] if (weekday := _WEEKDAY.match(text)) else text
    try:
        found = _iso(text) or _numbered(text) or _mail(text, zone)
        found = found.replace(tzinfo=zone) if found and found.tzinfo is None else found
        return found.astimezone(UTC) if found and found.year >= OLDEST_YEAR else None
    except (ValueError, OverflowError):
        return None


def without_future(moments: Sequence[datetime | None], received_at: datetime | None) -> list[datetime | None]:
    """The moments, without those that lie ahead of the arrival; without an arrival, ahead of most others."""
    known = sorted(each for each in moments if each)
    if not known:
        return list(moments)
    last = received_at + AHEAD_OF_ARRIVAL if received_at else median_low(known) + AHEAD_OF_MOST
    return [each if each and each <= last else None for each in moments]


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _numbered(text: str) -> datetime | None:
    """`2026年11月29日 08:00` and `2025/4/13 15:07:41`; a day that leads, as in 3/4/2025, may be a month: not read."""
    match = _YEAR_FIRST.fullmatch(text) or _MONTH_NUMBERED.fullmatch(text)
    if not match:
        return None
    part = match.groupdict()
    hour = int(part["h"] or 0)
    noon = (part.get("noon") or part.get("late") or "").upper()
    if noon:
        hour = hour % 12 + (12 if noon in {"下午", "PM"} else 0)
    found = datetime(int(part["y"]), int(part["m"]), int(part["d"]), hour, int(part["min"] or 0), int(part["s"] or 0))  # noqa: DTZ001 - the zone follows
    return datetime.strptime(f"{found:%Y%m%d%H%M%S}{part['zone']}", "%Y%m%d%H%M%S%z") if part.get("zone") else found


def _mail(text: str, zone: tzinfo) -> datetime | None:
    """The form of RSS. CST is the zone of Chicago to mail, and that of China to who lives there."""
    found = parsedate_to_datetime(text)
    abbreviation = text.rsplit(" ", 1)[-1]
    is_local = abbreviation.isalpha() and abbreviation == found.replace(tzinfo=zone).tzname()
    return found.replace(tzinfo=zone) if is_local else found
