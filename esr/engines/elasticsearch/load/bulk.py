"""Bulk requests: every item's result read, what is refused for want of room sent again after a while.

The client's own helpers retry at fixed times and not after a lost connection, and several workers would come
back all at once. So requests are sent here; the client makes them.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from elastic_transport import ConnectionError, ConnectionTimeout, TlsError
from elasticsearch import ApiError
from elasticsearch.helpers import expand_action

from esr.engines.elasticsearch.cluster.cluster import Cluster, advice
from esr.errors import EngineUnreachable

REQUEST_ITEMS = 1000
REQUEST_BYTES = 8_000_000
ATTEMPTS = 9
"""Of each item, over some two minutes."""
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
_BUSY = (429, 502, 503, 504)
_CLOSED = (401, 403)
"""No right to write, or a block."""
Action = dict[str, Any]


class Refusal(NamedTuple):
    """An entry that Elasticsearch does not take, whenever it is sent."""

    id: str
    reason: str


def send(cluster: Cluster, actions: Iterable[Action]) -> list[Refusal]:
    """Send actions, in requests of bounded size, one after another. Returns what was refused for good.

    Raises EngineUnreachable where the server stays busy or away, or an index takes no writes at all.
    """
    refusals: list[Refusal] = []
    with cluster.errors():
        for items in _requests(actions):
            refusals += _sent(cluster, items)
    return refusals


def _requests(actions: Iterable[Action]) -> Iterator[list[bytes]]:
    """Items of one request each. An item is its line, or its two lines."""
    items: list[bytes] = []
    size = 0
    for action in actions:
        lines = [part for part in expand_action(action) if part is not None]
        item = b"\n".join(json.dumps(part, ensure_ascii=False).encode() for part in lines)
        if items and (size + len(item) > REQUEST_BYTES or len(items) >= REQUEST_ITEMS):
            yield items
            items, size = [], 0
        items.append(item)
        size += len(item)
    if items:
        yield items


def _sent(cluster: Cluster, items: Sequence[bytes]) -> list[Refusal]:
    refusals = []
    client = cluster.client.options(max_retries=0)  # its own retries come at once
    for attempt in range(1, ATTEMPTS + 1):
        try:
            answer = client.bulk(operations=items)  # type: ignore[arg-type]  # lines as they are
        except (ApiError, ConnectionError, ConnectionTimeout) as error:
            if attempt == ATTEMPTS or not _passes(error):
                raise
            _wait(cluster, attempt)
            continue
        busy = []
        for item, result in zip(items, answer["items"], strict=True):
            ((verb, outcome),) = result.items()
            if outcome["status"] in _BUSY and attempt < ATTEMPTS:
                busy.append(item)
            elif outcome["status"] in (*_BUSY, *_CLOSED):
                raise _takes_nothing(outcome)
            elif outcome["status"] >= 300 and not (verb == "delete" and outcome["status"] == 404):
                reason = _reason(outcome)
                refusals.append(Refusal(outcome["_id"], f"{reason}{advice(reason)}"))
        if not busy:
            break
        items = busy
        _wait(cluster, attempt)
    return refusals


def _takes_nothing(outcome: dict[str, Any]) -> EngineUnreachable:
    """It is the index that refuses, and no fault of the entry: others would be refused as well."""
    reason = _reason(outcome)
    return EngineUnreachable(f"{outcome['_index']} takes no writes: {reason}{advice(reason)}")


def _passes(error: Exception) -> bool:
    """Whether it may be gone after a while. Ids are fixed: what was taken after all is taken again."""
    if isinstance(error, ApiError):
        return error.meta.status in _BUSY
    return not isinstance(error, TlsError)


def _wait(cluster: Cluster, attempt: int) -> None:
    """Longer each time, and never as long as another worker. Then it is another node's turn."""
    longest = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1))
    time.sleep(random.uniform(longest / 2, longest))
    cluster.turn()


def _reason(outcome: dict[str, Any]) -> str:
    error = outcome.get("error", outcome)
    if isinstance(error, dict) and "failed to parse field" in str(error.get("reason")):
        return str(error["reason"])  # the causes do not name the field
    while isinstance(error, dict) and isinstance(error.get("caused_by"), dict):
        error = error["caused_by"]
    return str(error.get("reason", error)) if isinstance(error, dict) else str(error)
