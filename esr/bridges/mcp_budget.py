"""Fits answers for assistants into a budget of characters. `left_out` counts the items that exceed it."""

import json
from collections.abc import Sequence
from typing import Any

from mcp.types import CallToolResult, TextContent

from esr.plugin import UsageError


def size(data: Any) -> int:
    """The number of characters of data as JSON."""
    return len(_to_json(data))


def _to_json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def fit(answer: dict[str, Any], key: str, items: Sequence[dict[str, Any]], budget: int) -> CallToolResult:
    """The answer with as many items as fit into the budget; the first is cut if it alone is too long.

    `budget` is in characters of JSON. Raises UsageError if the ids of an answer exceed it.
    """
    answer = cut(answer, budget // 2)
    entries_that_fit: list[dict[str, Any]] = []
    room = budget - size({**answer, key: [], "left_out": len(items)})
    for item in items:
        if not entries_that_fit:
            item = cut(item, room)
        room -= size(item) + 1
        if entries_that_fit and room < -1:
            break
        entries_that_fit.append(item)
    answer[key] = entries_that_fit
    if len(entries_that_fit) < len(items):
        answer["left_out"] = len(items) - len(entries_that_fit)
    # An id may hold half of a surrogate pair, which UTF-8 cannot encode.
    text = _to_json(answer).encode("utf-8", "replace").decode()
    if len(text) > budget:
        raise UsageError(f"the ids in the answer need a budget of {len(text):,}: raise it")
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=json.loads(text))


_NEIGHBOURS = ("before", "after")
_CUT = ("text", "sentence", "citation", "note", "title", "source")
"""The keys whose texts may be cut."""
_DROPPED = ("authors", "url", "years")
"""The keys that are left out where cut texts do not suffice: a part of an address would be a wrong one."""


def cut(item: dict[str, Any], room: int) -> dict[str, Any]:
    """The item within `room` characters: without neighbours, then with its longest texts cut and marked.

    Ids are never cut, so an item with long ids may exceed `room`.
    """
    if size(item) <= room:
        return item
    item = {name: value for name, value in item.items() if name not in _NEIGHBOURS} | {"cut": True}
    _cut_texts(item, room)
    for name in _DROPPED:
        if size(item) > room:
            item.pop(name, None)
    return item


def _cut_texts(item: dict[str, Any], room: int) -> None:
    while (excess := size(item) - room) > 0:
        longest = max(_CUT, key=lambda name: len(item.get(name, "")))
        length = len(item.get(longest, ""))
        if length < 4:
            break
        item[longest] = item[longest][: max(length - excess - 1, length // 2)] + "…"


def choose_window(sizes: Sequence[int], start: int | None, at: int, room: int) -> tuple[int, int]:
    """The range of sentences that fits into `room`: from `start` on, or around the sentence `at`.

    It has at least one sentence. `sizes` are in characters.
    """
    first = at if start is None else start
    end = min(first + 1, len(sizes))
    room -= sum(sizes[first:end])
    grown = True
    while grown:
        grown = False
        if end < len(sizes) and sizes[end] <= room:
            room, end, grown = room - sizes[end], end + 1, True
        if start is None and first and sizes[first - 1] <= room:
            room, first, grown = room - sizes[first - 1], first - 1, True
    return first, end
