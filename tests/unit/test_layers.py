"""Who may import whom, read from the sources themselves. A new edge is a reviewed change to this table."""

import ast
import sys
from pathlib import Path

import pytest

BOT = Path(__file__).parents[2] / "bot"
STDLIB = set(sys.stdlib_module_names)
CORE = {"bot.domain"}
SERVICES = CORE | {"bot.ports", "bot.cards", "bot.pictures", "bot.store", "bot.log", "bot.__version__"}

# folder → what it may import of ours, and of others'
ALLOWED: dict[str, tuple[set[str], set[str]]] = {
    "domain": (set(), set()),
    "ports": (CORE, set()),
    "reading": (CORE, {"feedparser", "markdown_it", "mdit_py_plugins", "msgspec", "selectolax"}),
    "cards": (CORE, {"jinja2", "markdown_it", "markupsafe", "pylatexenc"}),
    "pictures": (CORE, {"PIL", "resvg_py", "ziamath"}),
    "sources": (CORE | {"bot.ports", "bot.reading", "bot.tls"}, {"anyio", "httpx", "stamina"}),
    "feishu": (CORE | {"bot.ports", "bot.tls"}, {"httpx", "msgspec", "stamina", "Crypto", "lark_oapi", "websockets"}),
    "store": (CORE | {"bot.ports"}, {"sqlalchemy", "alembic", "anyio", "msgspec", "stamina"}),
    "sandbox": (
        {"bot.feishu.signature", "bot.feishu.codes", "bot.feishu.frames", "bot.tls"},
        {"starlette", "httpx", "anyio", "msgspec", "jinja2", "markupsafe"},
    ),
    "services": (SERVICES | {"bot.reading.keys"}, {"anyio"}),
    "web": (
        CORE
        | {"bot.services", "bot.leader", "bot.feishu.link_health"}
        | {"bot.feishu.signature", "bot.feishu.inbound", "bot.feishu.answers"},
        {"starlette", "msgspec", "jinja2", "prometheus_client"},
    ),
    "scheduler": (CORE | {"bot.services"}, {"apscheduler"}),
    "workdays": (CORE, {"chinese_calendar"}),
    "leader": ({"bot.store"}, set()),
    "settings": (CORE, {"msgspec"}),
    "config": (CORE | {"bot.settings"}, {"msgspec"}),
    "log": (set(), set()),
    "tls": (set(), {"httpx"}),
    "serving": (CORE, {"uvicorn", "uvloop", "starlette"}),
    # Commands that need no service read and draw by themselves: digest check, card render.
    "cli": (
        CORE
        | {"bot.services", "bot.sources", "bot.reading", "bot.cards.render", "bot.pictures", "bot.sandbox.draw"}
        | {"bot.store", "bot.__version__"},
        {"click"},
    ),
}
COMPOSE = {"app", "assembly", "parts", "demo", "__main__", "__init__"}


def imports_of(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def within(name: str, allowed: set[str]) -> bool:
    return any(name == one or name.startswith(one + ".") for one in allowed)


@pytest.mark.parametrize("folder", ALLOWED)
def test_a_folder_imports_only_what_its_layer_may(folder):
    """The core stays pure, a third-party type never crosses a border, and wires stay at the edge."""
    ours, others = ALLOWED[folder]
    paths = sorted((BOT / folder).rglob("*.py")) or [BOT / f"{folder}.py"]
    ours = ours | {f"bot.{folder}"}
    if folder == "cli":
        ours |= {"bot.app", "bot.parts", "bot.config", "bot.settings", "bot.log", "bot.demo", "bot.serving"}
    wrong = {
        f"{path.relative_to(BOT)}: {name}"
        for path in paths
        for name in imports_of(path)
        if not within(name, ours) and name.split(".")[0] not in STDLIB | others
    }
    assert wrong == set()


def test_every_module_stands_in_a_known_folder():
    """Nothing grows outside the table above."""
    assert {path.stem for path in BOT.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()} <= (
        set(ALLOWED) | COMPOSE
    )


def test_only_one_file_touches_the_sdk():
    """It is slow to import and has opinions of its own: one narrow door at most."""
    assert {
        path.name for path in BOT.rglob("*.py") if any(n.split(".")[0] == "lark_oapi" for n in imports_of(path))
    } <= {"sdk.py"}


def test_functions_and_files_stay_under_their_ceilings():
    """60 lines a function, 300 a file."""
    long = []
    for path in BOT.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if text.count("\n") > 300 and "migrations" not in path.parts:
            long.append(path.name)
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and "migrations" not in path.parts:
                assert node.end_lineno is not None
                if node.end_lineno - node.lineno >= 60:
                    long.append(f"{path.name}:{node.name}")
    assert long == []
