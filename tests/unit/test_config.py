"""The configuration: complete example, clear errors, hidden secrets."""

import tomllib
from pathlib import Path

import msgspec
import pytest

from bot.config import SECRETS, load, masked, require_service, settings_from
from bot.domain.errors import ConfigError
from bot.settings import Secret, Settings

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "config.example.toml"


def read(text: str, environ: dict[str, str] | None = None) -> Settings:
    return settings_from(tomllib.loads(text), environ or {}, base=Path("/srv/bot"))


def test_the_example_loads_as_it_is_and_holds_every_key():
    """Whoever copies it sees all there is, with its default."""
    settings = load(EXAMPLE, {})
    text = EXAMPLE.read_text(encoding="utf-8")

    assert settings.series[0].name == "大模型日报"
    for table in Settings.__struct_fields__:
        assert f"[{table}]" in text or f"[[{table}]]" in text
    for part in (
        settings.feishu,
        settings.delivery,
        settings.cards,
        settings.web,
        settings.series[0],
        settings.log,
        settings.admin,
    ):
        for key in part.__struct_fields__:
            assert f"\n{key} = " in text, f"{type(part).__name__}.{key}"


@pytest.mark.parametrize(
    ("text", "key", "hint"),
    [
        ("[feishu]\napp_idd = 'x'", "feishu.app_idd", "did you mean app_id"),
        ("[sereis]", "sereis", "did you mean series"),
        ("[[series]]\nid = 'a'\nname = 'b'\nsource = {kind = 'folder', paht = 'x'}", "series[0].source.paht", "path"),
        ("[[series]]\nid = 'a'\nname = 'b'\npush_at = '8:37'", "series[0].push_at", "HH:MM"),
        ("[[series]]\nid = 'a'\nname = 'b'\ntimezone = 'Moon/Base'", "series.timezone", "Asia/Shanghai"),
        ("[[series]]\nid = 'a'\nname = 'b'\n[[series]]\nid = 'a'\nname = 'c'", "series.id", "twice"),
        ("[delivery]\nper_second = 0", "delivery.per_second", ">= 1"),
        ("[cards]\ntemplates = 'nowhere'", "cards.templates", "no folder"),
        ("[store]\nurl = 'mysql://x'", "store.url", "sqlite"),
        ("[feishu]\nbase_url = 'http://open.feishu.cn'", "feishu.base_url", "https"),
    ],
)
def test_a_wrong_value_names_itself_and_the_cure(text, key, hint):
    """One line: which key, what is wrong, what would be right."""
    with pytest.raises(ConfigError) as caught:
        read(text)

    assert caught.value.key == key
    assert hint in str(caught.value)


def test_the_environment_wins_over_the_file():
    """Two underscores separate table and key."""
    environ = {
        "DIGEST_BOT_FEISHU__APP_SECRET": "s3cret",
        "DIGEST_BOT_DELIVERY__PER_SECOND": "7",
        "DIGEST_BOT_CONFIG": "x",
    }

    settings = read("[delivery]\nper_second = 9", environ)

    assert (settings.feishu.app_secret, settings.delivery.per_second) == ("s3cret", 7)


def test_a_secret_may_lie_in_a_file(tmp_path):
    """The way of mounted secrets."""
    (tmp_path / "secret").write_text("s3cret\n")

    settings = settings_from({"feishu": {"app_secret_file": "secret"}}, {}, base=tmp_path)

    assert settings.feishu.app_secret == "s3cret"


def test_secrets_never_print():
    """Neither by repr, nor by `config show`, nor in an error about another type."""
    settings = read("[feishu]\napp_secret = 's3cret'\nencrypt_key = 's3cret'\n[ask]\napi_key = 's3cret'")

    assert "s3cret" not in repr(settings)
    assert "s3cret" not in str(masked(settings))
    with pytest.raises(ConfigError) as caught:
        read("[feishu]\napp_secret = ['s3cret']")
    assert "s3cret" not in str(caught.value)


def test_every_secret_field_is_on_the_list_of_secrets():
    """The list says which keys have a `_file` twin and are masked."""
    tables = {name: kind for name, kind in Settings.__annotations__.items() if name in {"feishu", "web", "store"}}
    found = {
        (name, field.name)
        for name, kind in tables.items()
        for field in msgspec.structs.fields(kind)
        if field.type is Secret
    }

    assert found | {("ask", "api_key")} == SECRETS


def test_relative_paths_are_meant_from_the_file():
    """A service starts in any folder."""
    settings = read("[[series]]\nid = 'a'\nname = 'b'\nsource = {kind = 'folder', path = 'digests'}")

    assert settings.store.url == "sqlite:////srv/bot/data/digest-bot.db"
    assert settings.series[0].source.path == "/srv/bot/digests"


def test_a_long_connection_needs_no_keys_of_callbacks():
    """Nothing is posted to the bot then; the app's secret proves both sides."""
    feishu = {"app_id": "cli_1", "app_secret": "x", "transport": "websocket"}
    tables = {"feishu": feishu, "series": [{"id": "ai", "name": "日报"}]}

    require_service(settings_from(tables, {}, base=Path("/srv/bot")))
    webhook = settings_from({**tables, "feishu": {**feishu, "transport": "webhook"}}, {}, base=Path("/srv/bot"))
    with pytest.raises(ConfigError, match="encrypt_key"):
        require_service(webhook)


def test_a_review_without_anybody_who_could_approve_is_refused():
    """Nothing would ever go out."""
    feishu = {"app_id": "cli_1", "app_secret": "x", "transport": "websocket"}
    tables = {"feishu": feishu, "series": [{"id": "ai", "name": "日报", "review": "approve"}]}

    with pytest.raises(ConfigError, match=r"admin\.open_ids"):
        require_service(settings_from(tables, {}, base=Path("/srv/bot")))
    require_service(settings_from({**tables, "admin": {"open_ids": ["ou_1"]}}, {}, base=Path("/srv/bot")))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("web.archive", "public"),
    ],
)
def test_what_this_version_does_not_do_is_refused_not_ignored(key, value):
    """An operator who asked for an archive must not believe that there is one."""
    table, name = key.split(".")
    tables = {
        "feishu": {"app_id": "cli_1", "app_secret": "x", "encrypt_key": "x", "verification_token": "x"},
        "series": [{"id": "ai", "name": "日报"}],
    }
    (tables["series"][0] if table == "series" else tables.setdefault(table, {}))[name] = value

    with pytest.raises(ConfigError, match=key):
        require_service(settings_from(tables, {}, base=Path("/srv/bot")))


def test_a_service_without_an_encrypt_key_does_not_start():
    """An endpoint that cannot tell the platform from anybody else is not opened."""
    with pytest.raises(ConfigError, match="encrypt_key"):
        require_service(read("[feishu]\napp_id = 'cli_1'\napp_secret = 'x'"))
