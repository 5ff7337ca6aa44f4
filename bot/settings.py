"""The settings as frozen structs: keys, types and defaults, in the order of config.example.toml."""

from datetime import date, time
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

import msgspec

from bot.domain.errors import ConfigError
from bot.domain.schedule import Days, Hours

Positive = Annotated[int, msgspec.Meta(gt=0)]
NotNegative = Annotated[int, msgspec.Meta(ge=0)]
ClockTime = Annotated[str, msgspec.Meta(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")]
SeriesId = Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$")]


class Secret(str):
    """A string that does not print itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'" if self else "''"


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class FeishuSettings(_Table, frozen=True):
    app_id: str = ""
    app_secret: Secret = Secret()
    base_url: str = "https://open.feishu.cn"
    encrypt_key: Secret = Secret()
    verification_token: Secret = Secret()
    transport: Literal["webhook", "websocket"] = "webhook"


class FolderSettings(_Table, frozen=True, tag="folder", tag_field="kind"):
    path: str
    glob: str = "*"


class FeedSettings(_Table, frozen=True, tag="feed", tag_field="kind"):
    url: str
    allow_private: bool = False


class WikiSettings(_Table, frozen=True, tag="feishu_wiki", tag_field="kind"):
    space: str | None = None
    node: str | None = None


class HttpJsonSettings(_Table, frozen=True, tag="http_json", tag_field="kind"):
    url: str
    allow_private: bool = False


class BitableSettings(_Table, frozen=True, tag="bitable", tag_field="kind"):
    app: str
    table: str
    fields: dict[str, str]
    view: str | None = None


SourceSettings = FolderSettings | FeedSettings | WikiSettings | HttpJsonSettings | BitableSettings


class SeriesSettings(_Table, frozen=True):
    id: SeriesId
    name: str
    source: SourceSettings | None = None
    push_at: ClockTime = "08:37"
    timezone: str = "Asia/Shanghai"
    days: Days = Days.DAILY
    wait_until: ClockTime = "12:00"
    review: Literal["auto", "approve"] = "auto"
    colour: str = "blue"
    community_url: str = ""
    research_url: str = ""
    noise: tuple[str, ...] = ()

    @property
    def hours(self) -> Hours:
        """The series' clock as the scheduler wants it."""
        return Hours(
            time.fromisoformat(self.push_at), time.fromisoformat(self.wait_until), ZoneInfo(self.timezone), self.days
        )


class DeliverySettings(_Table, frozen=True):
    per_second: Positive = 46
    per_minute: Positive = 990
    per_receiver_per_second: Positive = 4
    monthly_calls: NotNegative = 0
    personal: Literal["single", "batch", "auto"] = "single"


class CardsSettings(_Table, frozen=True):
    templates: str = ""


class StoreSettings(_Table, frozen=True):
    url: str = "sqlite:///data/digest-bot.db"


class WebSettings(_Table, frozen=True):
    host: str = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65535)] = 8000
    public_url: str = ""
    archive: Literal["public", "login", "off"] = "off"


class AdminSettings(_Table, frozen=True):
    open_ids: tuple[str, ...] = ()


class AskSettings(_Table, frozen=True):
    base_url: str = ""
    api_key: Secret = Secret()
    model: str = ""


class CalendarSettings(_Table, frozen=True):
    workdays: tuple[date, ...] = ()
    holidays: tuple[date, ...] = ()


class LogSettings(_Table, frozen=True):
    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    format: Literal["console", "json"] = "console"


class Settings(_Table, frozen=True):
    feishu: FeishuSettings = FeishuSettings()
    series: tuple[SeriesSettings, ...] = ()
    calendar: CalendarSettings = CalendarSettings()
    delivery: DeliverySettings = DeliverySettings()
    cards: CardsSettings = CardsSettings()
    store: StoreSettings = StoreSettings()
    web: WebSettings = WebSettings()
    admin: AdminSettings = AdminSettings()
    ask: AskSettings | None = None
    log: LogSettings = LogSettings()

    def one_series(self, series: str) -> SeriesSettings:
        """The series of that id. Raises ConfigError naming those that exist."""
        for one in self.series:
            if one.id == series:
                return one
        known = ", ".join(s.id for s in self.series) or "none configured"
        raise ConfigError("series", f"there is no series {series!r}; known: {known}")
