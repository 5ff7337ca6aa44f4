"""Wiki spaces and their nodes. Source: feishu-platform notes 9.1 (wiki-v2 get_node, space-node/list)."""

from collections.abc import Sequence
from typing import Any

from starlette.routing import BaseRoute

from bot.sandbox.api_messages import page_of
from bot.sandbox.gateway import Call, Gateway, RefusalError, success
from bot.sandbox.state import Node, World

NODE_SCOPES = ("wiki:node:read", "wiki:wiki", "wiki:wiki:readonly")
LIST_SCOPES = ("wiki:node:retrieve", "wiki:wiki", "wiki:wiki:readonly")
LARGEST_PAGE = 50
CREATOR = "ou_sandbox_editor"


def routes(gateway: Gateway) -> Sequence[BaseRoute]:
    api = Wiki(gateway.world)
    spaces = "/open-apis/wiki/v2/spaces"
    return [
        gateway.route("GET", spaces + "/get_node", "get_node", api.get_node, scopes=NODE_SCOPES),
        gateway.route("GET", spaces + "/{space_id}/nodes", "nodes", api.nodes, scopes=LIST_SCOPES),
    ]


class Wiki:
    """One method an API."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def get_node(self, call: Call) -> dict[str, Any]:
        """By node token, or with `obj_type` by the token of what stands there."""
        asked = call.request.query_params
        token, obj_type = asked.get("token"), asked.get("obj_type", "wiki")
        if not token:
            raise RefusalError(131002, "param err: token is required")
        node = self._world.nodes.get(token)
        if obj_type != "wiki":
            same = (one for one in self._world.nodes.values() if (one.obj_type, one.obj_token) == (obj_type, token))
            node = next(same, None)
        return success({"node": self._described(_readable(node))})

    async def nodes(self, call: Call) -> dict[str, Any]:
        """Right below `parent_node_token`, or at the top. What the app may not read is left out after paging.

        So a page may be empty while `has_more` is true.
        """
        space_id = call.request.path_params["space_id"]
        parent = call.request.query_params.get("parent_node_token", "")
        if space_id not in self._world.spaces:
            raise RefusalError(131005, "not found: space")
        if parent:
            _readable(self._world.nodes.get(parent))
        found = [one for one in self._world.nodes.values() if (one.space_id, one.parent) == (space_id, parent)]
        shown, more = page_of(found, call, default=20, largest=LARGEST_PAGE)
        return success({"items": [self._described(node) for node in shown if not node.forbidden], **more})

    def _described(self, node: Node) -> dict[str, Any]:
        origin = self._world.nodes.get(node.origin)
        return {
            "space_id": node.space_id,
            "node_token": node.node_token,
            "obj_token": node.obj_token,
            "obj_type": node.obj_type,
            "parent_node_token": node.parent,
            "node_type": "shortcut" if node.origin else "origin",
            "origin_node_token": node.origin or node.node_token,
            "origin_space_id": origin.space_id if origin else node.space_id,
            "has_child": any(one.parent == node.node_token for one in self._world.nodes.values()),
            "title": node.title,
            "obj_create_time": str(int(node.created_at)),
            "obj_edit_time": str(int(node.edited_at)),
            "node_create_time": str(int(node.created_at)),
            "creator": CREATOR,
            "owner": CREATOR,
        }


def _readable(node: Node | None) -> Node:
    if node is None:
        raise RefusalError(131005, "not found: node")
    if node.forbidden:
        raise RefusalError(131006, "permission denied: wiki node permission denied, tenant needs read permission.")
    return node
