"""TOML and environment → frozen settings. Order: default < file < environment. Read once, never re-read."""

import difflib
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec

from bot import settings as structs
from bot.domain.errors import ConfigError
from bot.settings import (
    FeedSettings,
    FolderSettings,
    HttpJsonSettings,
    Secret,
    SeriesSettings,
    Settings,
    WikiSettings,
)

ENV_PREFIX = "DIGEST_BOT_"
SECRETS = {("feishu", "app_secret"), ("feishu", "encrypt_key"), ("feishu", "verification_token"), ("ask", "api_key")}
FILE = "sqlite:///"
SERVERS = ("postgresql://", "postgres://")
COLOURS = "blue wathet turquoise green yellow orange red carmine violet purple indigo grey default"

FORMS = {
    "push_at": "HH:MM, e.g. 08:37",
    "wait_until": "HH:MM, e.g. 12:00",
    "id": "lower-case letters, digits, - and _, at most 32",
}


def load(path: Path, environ: Mapping[str, str] = os.environ) -> Settings:
    """Settings of a file and the environment. Raises ConfigError with the key and the cure."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ConfigError(
            "", f"{path} does not exist; copy config.example.toml to it, or name another with -c"
        ) from None
    except (OSError, UnicodeDecodeError) as exc:
        raise ConfigError("", f"{path} cannot be read: {exc}; name a TOML file with -c") from exc
    except tomllib.TOMLDecodeError as exc:
        raise ConfigError("", f"{path} is not valid TOML: {exc}") from exc
    return settings_from(data, environ, base=path.parent)


def settings_from(data: dict[str, Any], environ: Mapping[str, str], *, base: Path) -> Settings:
    """Settings of parsed TOML. Relative paths in it are meant from `base`."""
    for key, text in sorted(environ.items()):
        if key.startswith(ENV_PREFIX) and "__" in key:
            _set(data, key.removeprefix(ENV_PREFIX).lower().split("__"), text)
    _read_secret_files(data, base)
    try:
        settings = msgspec.convert(data, Settings, strict=False, dec_hook=_secret)
    except msgspec.ValidationError as exc:
        raise _config_error(str(exc)) from exc
    _validate(settings)
    return _anchored(settings, base)


def masked(settings: Settings) -> dict[str, Any]:
    """The settings as plain data with secrets hidden, for `config show` and logs."""
    plain: dict[str, Any] = msgspec.to_builtins(settings, enc_hook=str)
    for table, key in SECRETS:
        if plain[table] and plain[table][key]:
            plain[table][key] = "***"
    plain["store"]["url"] = _without_password(plain["store"]["url"])
    return plain


def _without_password(url: str) -> str:
    """To the last @: a password that was not escaped may hold one."""
    return re.sub(r"(\bpassword=)[^&]*", r"\1***", re.sub(r"(://[^:/@]*:).*@", r"\1***@", url))


def _set(data: dict[str, Any], path: list[str], text: str) -> None:
    node = data
    for name in path[:-1]:
        node = node.setdefault(name, {})
        if not isinstance(node, dict):
            raise ConfigError(".".join(path), "cannot be set from the environment; write it in the file")
    node[path[-1]] = text


def _read_secret_files(data: dict[str, Any], base: Path) -> None:
    for table, key in SECRETS:
        node = data.get(table)
        if not isinstance(node, dict) or f"{key}_file" not in node:
            continue
        path = base / str(node.pop(f"{key}_file"))
        try:
            node[key] = path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise ConfigError(f"{table}.{key}_file", f"{path} cannot be read") from None


def _secret(_: type, value: object) -> Secret:
    if not isinstance(value, str):
        raise ValueError("expected a string")  # noqa: TRY004  msgspec turns a ValueError into one with the key
    return Secret(value)


def _config_error(text: str) -> ConfigError:
    """The decoder's message with our key, and for an unknown key the nearest known one. Never shows a value."""
    message, _, place = text.partition(" - at `$")
    key = place.rstrip("`").lstrip(".") or "config"
    unknown = re.search(r"unknown field `(.+?)`", message)
    if not unknown:
        return ConfigError(key, "must be " + FORMS[key.rpartition(".")[2]] if "regex" in message else message)
    name = unknown.group(1)
    near = difflib.get_close_matches(name, _known_keys(key), n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]}?" if near else f"; known: {', '.join(_known_keys(key))}"
    full = name if key == "config" else f"{key}.{name}"
    return ConfigError(full, f"unknown key{hint}")


def _known_keys(place: str) -> list[str]:
    table = re.sub(r"\[.*?\]", "", place)
    tables: dict[str, tuple[type[msgspec.Struct], ...]] = {
        "config": (Settings,),
        "feishu": (structs.FeishuSettings,),
        "series": (SeriesSettings,),
        "series.source": get_args(structs.SourceSettings),
        "calendar": (structs.CalendarSettings,),
        "delivery": (structs.DeliverySettings,),
        "cards": (structs.CardsSettings,),
        "store": (structs.StoreSettings,),
        "web": (structs.WebSettings,),
        "admin": (structs.AdminSettings,),
        "ask": (structs.AskSettings,),
        "log": (structs.LogSettings,),
    }
    return sorted({name for one in tables.get(table, (Settings,)) for name in one.__struct_fields__})


def _validate(settings: Settings) -> None:
    seen: set[str] = set()
    for series in settings.series:
        if series.id in seen:
            raise ConfigError("series.id", f"{series.id!r} stands twice; every series needs its own id")
        seen.add(series.id)
        try:
            ZoneInfo(series.timezone)
        except (ZoneInfoNotFoundError, ValueError):
            raise ConfigError(
                "series.timezone", f"{series.timezone!r} is no time zone; write e.g. Asia/Shanghai"
            ) from None
        if series.colour not in COLOURS.split():
            raise ConfigError("series.colour", f"{series.colour!r} is not one of {COLOURS}")
        _validate_source(series)
        if series.push_at == series.wait_until:
            raise ConfigError("series.wait_until", "must be later than push_at")
    if not settings.store.url.startswith((FILE, *SERVERS)):
        raise ConfigError("store.url", "must be sqlite:///PATH or postgresql://USER:PASSWORD@HOST/DATABASE")
    if not settings.feishu.base_url.startswith(("https://", "http://127.0.0.1", "http://localhost")):
        raise ConfigError("feishu.base_url", "must be https:// (http:// only on this machine)")


def _validate_source(series: SeriesSettings) -> None:
    match series.source:
        case WikiSettings(space=None, node=None):
            raise ConfigError("series.source", "feishu_wiki needs `space` or `node`; both stand in the wiki's address")
        case FeedSettings(url=url) | HttpJsonSettings(url=url) if not url.startswith(("http://", "https://")):
            raise ConfigError("series.source.url", f"{url!r} is no web address; write one with https://")


def require_service(settings: Settings) -> None:
    """What `run` needs beyond a valid file. Raises ConfigError naming the first key that is missing."""
    needed = {
        "feishu.app_id": settings.feishu.app_id,
        "feishu.app_secret": settings.feishu.app_secret,
    }
    if settings.feishu.transport == "webhook":  # a long connection is authenticated by the app's secret
        needed |= {
            "feishu.encrypt_key": settings.feishu.encrypt_key,
            "feishu.verification_token": settings.feishu.verification_token,
        }
    for key, text in needed.items():
        if not text:
            raise ConfigError(key, "is missing; it stands in the developer console of your app")
    if not settings.series:
        raise ConfigError("series", "none configured; add a [[series]] table")
    # A key of the contract whose other values would promise what this version does not do.
    if settings.web.archive != "off":
        raise ConfigError("web.archive", f"{settings.web.archive!r} is not available yet; use 'off'")
    if not settings.admin.open_ids and any(one.review == "approve" for one in settings.series):
        raise ConfigError("admin.open_ids", 'is empty, but review = "approve" needs somebody who approves')


def _anchored(settings: Settings, base: Path) -> Settings:
    """Relative paths made to hold from the file's own folder, wherever the command was started."""
    store = settings.store
    if store.url.startswith(FILE):
        store = msgspec.structs.replace(store, url=f"{FILE}{(base / store.url.removeprefix(FILE)).resolve()}")
    series = tuple(_anchored_series(one, base) for one in settings.series)
    cards = _anchored_cards(settings.cards, base)
    return msgspec.structs.replace(settings, store=store, series=series, cards=cards)


def _anchored_cards(cards: structs.CardsSettings, base: Path) -> structs.CardsSettings:
    if not cards.templates:
        return cards
    folder = (base / cards.templates).resolve()
    if not folder.is_dir():
        raise ConfigError("cards.templates", f"{folder} is no folder; make it or remove the key")
    return msgspec.structs.replace(cards, templates=str(folder))


def _anchored_series(series: SeriesSettings, base: Path) -> SeriesSettings:
    if not isinstance(series.source, FolderSettings):
        return series
    source = msgspec.structs.replace(series.source, path=str((base / series.source.path).resolve()))
    return msgspec.structs.replace(series, source=source)
