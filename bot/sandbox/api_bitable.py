"""Rows of tables; errors with HTTP 200. Source: feishu-platform notes 9.4 (bitable-v1 app-table-record/search)."""

from collections.abc import Sequence
from typing import Any

from starlette.routing import BaseRoute

from bot.sandbox.api_messages import page_of
from bot.sandbox.gateway import Call, Gateway, RefusalError, success
from bot.sandbox.state import Table, World

SCOPES = ("base:record:retrieve", "bitable:app", "bitable:app:readonly")
LARGEST_PAGE = 500


def routes(gateway: Gateway) -> Sequence[BaseRoute]:
    api = Records(gateway.world)
    path = "/open-apis/bitable/v1/apps/{app_token}/tables/{table_id}/records/search"
    return [gateway.route("POST", path, "search_records", api.search, scopes=SCOPES)]


class Records:
    """One method an API."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def search(self, call: Call) -> dict[str, Any]:
        """All rows, or those of a view. `filter` and `sort` are not written here: they are refused, not ignored."""
        body = call.json() if call.body else {}
        table = self._readable(call)
        if body.get("filter") or body.get("sort"):
            raise _refused(1254018, "InvalidFilter: the sandbox knows neither filter nor sort")
        rows = list(table.records)
        if (view := body.get("view_id")) is not None:
            if view not in table.views:
                raise _refused(1254042, "ViewIdNotFound")
            rows = [row for row in rows if row["record_id"] in table.views[view]]
        names = body.get("field_names") or table.fields
        if unknown := [name for name in names if name not in table.fields]:
            raise _refused(1254045, f"FieldNameNotFound: {unknown[0]}")
        shown, more = page_of(rows, call, default=20, largest=LARGEST_PAGE)
        return success({"items": [_with(row, names) for row in shown], "total": len(rows), **more})

    def _readable(self, call: Call) -> Table:
        path = call.request.path_params
        app_token, table_id = path["app_token"], path["table_id"]
        if not any(key.startswith(f"{app_token}/") for key in self._world.tables):
            raise _refused(1254040, "BaseTokenNotFound")
        table = self._world.tables.get(f"{app_token}/{table_id}")
        if table is None:
            raise _refused(1254041, "TableIdNotFound")
        if table.forbidden:
            raise _refused(1254302, "Permission denied.")
        return table


def _with(row: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """A field that is empty in a row is absent from it."""
    return {**row, "fields": {name: row["fields"][name] for name in names if name in row["fields"]}}


def _refused(code: int, msg: str) -> RefusalError:
    return RefusalError(code, msg, status=200)
