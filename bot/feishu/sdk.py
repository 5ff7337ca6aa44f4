"""The official SDK, loaded narrowly and on demand, over a transport of ours: the only file that imports lark_oapi.

The whole SDK takes seconds and 170 MB to import, opens a connection for each call and fetches tokens on the loop. Here
it makes requests of typed calls; `config.exchange` of documents.py sends them and keeps the answer, since the models of
answers raise on any field whose type they do not expect. Nothing is imported before `load`.
Source: shared notes on lark-oapi 1.7.5, sections 1 to 3; it leans on the folders of that version.
"""

import importlib.abc
import importlib.machinery
import logging
import re
import sys
import threading
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

# Calls and requests, each in a module of its name.
NAMES = {
    "wiki.v2": ("Space", "SpaceNode", "GetNodeSpaceRequest", "ListSpaceNodeRequest"),
    "docx.v1": ("Document", "DocumentBlock", "GetDocumentRequest", "ListDocumentBlockRequest"),
    "drive.v1": ("Media", "DownloadMediaRequest"),
    "bitable.v1": ("AppTableRecord", "SearchAppTableRecordRequest"),
    "im.v1": ("Chat", "GetChatRequest", "ListChatRequest"),
}
_EMPTIED = re.compile(r"lark_oapi(\.api(\.[a-z_]+(\.v\d+(\.(model|resource))?)?)?)?")
_WORD = re.compile(r"(?<!^)(?=[A-Z])")
_LOADING = threading.Lock()


def load() -> SimpleNamespace:
    """The names that we use. Takes half a second the first time: call it in a thread."""
    with _LOADING:
        return _loaded()


@cache
def _loaded() -> SimpleNamespace:
    """Narrowly, or the whole SDK where it is imported already or has other folders than we know."""
    if "lark_oapi" in sys.modules:
        return _imported()
    narrow = _Narrow()
    sys.meta_path.insert(0, narrow)
    try:
        return _imported()
    except (ImportError, AttributeError):
        sys.meta_path.remove(narrow)
        for name in [name for name in sys.modules if name.partition(".")[0] == "lark_oapi"]:
            del sys.modules[name]
        return _imported()


def _imported() -> SimpleNamespace:
    from lark_oapi.core.http import transport
    from lark_oapi.core.model import Config, RawResponse, RequestOption

    logging.getLogger("Lark").handlers.clear()  # it writes to stdout, which belongs to our commands' answers

    async def aexecute(config: Any, request: Any, option: Any) -> Any:
        url = transport._build_url(config.domain, request.uri, request.paths)  # noqa: SLF001
        await config.exchange(request, url, transport._build_header(request, option, config))  # noqa: SLF001
        raw = RawResponse()
        raw.status_code, raw.content = 200, b'{"code": 0}'
        return raw

    transport.Transport.aexecute = staticmethod(aexecute)
    names = {name: _name(service, name) for service, row in NAMES.items() for name in row}
    return SimpleNamespace(Config=Config, RequestOption=RequestOption, **names)


def _name(service: str, name: str) -> Any:
    folder = "model" if name.endswith("Request") else "resource"
    return getattr(import_module(f"lark_oapi.api.{service}.{folder}.{_WORD.sub('_', name).lower()}"), name)


class _Empty(importlib.abc.Loader):
    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:  # noqa: ARG002
        return None

    def exec_module(self, module: ModuleType) -> None:
        pass


class _Narrow(importlib.abc.MetaPathFinder):
    """Gives the packages that import everything an empty body and their real folder."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:  # noqa: ARG002
        real = importlib.machinery.PathFinder.find_spec(name, path) if _EMPTIED.fullmatch(name) else None
        if real is None or real.submodule_search_locations is None:
            return None
        spec = importlib.machinery.ModuleSpec(name, _Empty(), is_package=True)
        spec.submodule_search_locations = list(real.submodule_search_locations)
        return spec
