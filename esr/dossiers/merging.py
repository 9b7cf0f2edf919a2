"""Joins changes that two people made at once, so that neither is lost.

A change names the version that it began from, its base. What only one of the two changed is taken from that
one. Where both changed the same: sets such as tags get what both added, without what either removed; a note
has both texts; of a single value, such as a judgement, nobody can say which holds, so it is a Conflict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from msgspec import structs

from esr.dossiers.records import NOTE_CHARS, Conflict, Edit, Item
from esr.plugin import to_one_line

T = TypeVar("T")
_BREAK = "\n\n"
"""What stands between two texts of a note."""


def merge_edit(base: Item | None, current: Item, edit: Edit) -> tuple[Item, tuple[str, ...]]:
    """The item after an edit that began from `base`, and the fields in which both changes were joined.

    `base` is None if it is too old to be known: then each field counts as changed by both. Raises Conflict.
    """
    values: dict[str, Any] = {}
    merged = list[str]()
    for field, new in edit.as_dict().items():
        now = getattr(current, field)
        before = getattr(base, field) if base is not None else None
        if new == now or (base is not None and new == before):  # another's change, if there is one, stays
            continue
        if base is None or now != before:
            new = _join(field, before, now, new)
            if new != now:
                merged.append(field)
        values[field] = new
    return structs.replace(current, **values), tuple(merged)


def _join(field: str, before: Any, now: Any, new: Any) -> Any:
    if field in ("tags", "highlights"):
        former = set(before or ())
        removed, added = former - set(new), [value for value in new if value not in former]
        return tuple(dict.fromkeys([*(value for value in now if value not in removed), *added]))
    if field == "note":
        if not now or now in new:
            return new
        if not new or new in now:
            return now
        joined = now + _BREAK + new
        if len(joined) <= NOTE_CHARS:
            return joined
    raise Conflict(
        f"somebody else changed the {field} since you read it, to {to_one_line(repr(now))}: read it again, "
        "then change it",
        field,
        now,
    )


def merge_value(field: str, before: T | None, now: T, new: T) -> T:
    """The single value after a change that began from `before`. Raises Conflict if both changed it.

    `before` is None if it is too old to be known: then both count as changes.
    """
    if new in (now, before):
        return now
    if now != before:
        _join(field, before, now, new)
    return new


def move(
    order: Sequence[str], moved: Iterable[str], after: str | None, base: Sequence[str] | None
) -> list[str]:
    """The order after items were moved behind another one, or to the start where `after` is None.

    If somebody else has removed that one, they come behind the nearest one that stood before it in `base`.
    Items that are no longer there are left out.
    """
    present = set(order)
    moving = [item for item in dict.fromkeys(moved) if item in present]
    rest = [item for item in order if item not in set(moving)]
    anchor = after
    if anchor is not None and anchor not in rest:
        before = list(base or order)
        place = before.index(anchor) if anchor in before else len(before)
        anchor = next((item for item in reversed(before[:place]) if item in set(rest)), None)
        if after not in before:
            anchor = rest[-1] if rest else None
    start = 0 if anchor is None else rest.index(anchor) + 1
    return [*rest[:start], *moving, *rest[start:]]


def arrange(current: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The order `wanted`, of the items that are still there; others stay behind the one before them now."""
    present, named = set(current), set(wanted)
    order = [item for item in dict.fromkeys(wanted) if item in present]
    for place, item in enumerate(current):
        if item not in named:
            before = next((other for other in reversed(current[:place]) if other in order), None)
            order.insert(0 if before is None else order.index(before) + 1, item)
    return order
