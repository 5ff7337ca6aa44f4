"""Instants as a client in Shanghai shows them."""

from datetime import datetime, timedelta, timezone

from bot.sandbox.loose import number

CLIENT_ZONE = timezone(timedelta(hours=8), "Asia/Shanghai")  # fixed: Shanghai has had no summer time since 1991
_FORMATS = {
    "date_num": "%Y/%m/%d",
    "date_short": "%m月%d日",
    "date": "%Y年%m月%d日",
    "time": "%H:%M",
    "time_sec": "%H:%M:%S",
    "timezone": "GMT+8",
    "YYYY/MM/DD": "%Y/%m/%d",
    "YYYY-MM-DD": "%Y-%m-%d",
    "MM/DD/YYYY": "%m/%d/%Y",
    "MM-DD-YYYY": "%m-%d-%Y",
    "DD/MM/YYYY": "%d/%m/%Y",
    "DD-MM-YYYY": "%d-%m-%Y",
    "YYYY/MM/DD HH:mm": "%Y/%m/%d %H:%M",
    "YYYY-MM-DD HH:mm": "%Y-%m-%d %H:%M",
}


def local_datetime(milliseconds: object, format_type: str) -> str:
    """Milliseconds since 1970 in one of the formats a card may name; weekdays in Chinese."""
    try:
        moment = datetime.fromtimestamp(number(milliseconds) / 1000, CLIENT_ZONE)
    except (OverflowError, OSError, ValueError):
        return "时间无效"
    if format_type in {"week", "week_short"}:
        return "周" + "一二三四五六日"[moment.weekday()]
    return moment.strftime(_FORMATS.get(format_type, "%Y年%m月%d日"))
