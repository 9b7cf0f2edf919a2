"""Bulk requests.

The result of every item is checked, and items that an overloaded node rejected are sent again. The client's
own helpers retry at fixed times, so several workers would retry at once, and not after a lost connection.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from elastic_transport import ConnectionError, ConnectionTimeout, TlsError
from elasticsearch import ApiError
from elasticsearch.helpers import expand_action

from esr.elastic.cluster import Cluster
from esr.elastic.connection import FastJsonSerializer
from esr.elastic.login import BUSY, DISK_FULL, with_advice
from esr.elastic.requests import FIRST_WAIT, LONGEST_WAIT
from esr.errors import EngineUnreachable

REQUEST_ITEMS = 1000
REQUEST_BYTES = 8_000_000
MAX_ATTEMPTS = 9
"""Attempts for each item, over a minute or more."""
_JSON = FastJsonSerializer()
_BLOCKED = (401, 403)
"""Status codes for a login without the privilege, or an index with a write block."""
Action = dict[str, Any]


class _Worker(threading.local):
    """For each thread, an event that is set when nobody waits for its results any more."""

    stopped: threading.Event | None = None


_worker = _Worker()


def end_retries_when(stopped: threading.Event) -> None:
    """Stop retries of this thread's requests once this event is set."""
    _worker.stopped = stopped


class RejectedItem(NamedTuple):
    """An entry that Elasticsearch rejects permanently."""

    id: str
    reason: str


def send_bulk(cluster: Cluster, actions: Iterable[Action]) -> list[RejectedItem]:
    """Send actions in requests of bounded size, one after another. Returns the rejected items.

    Raises EngineUnreachable if the server remains overloaded or unreachable, or an index accepts no writes.
    """
    rejected: list[RejectedItem] = []
    with cluster.translate_errors():
        for items in _requests(map(cluster.dialect.entry, actions)):
            rejected += _send_request(cluster, items)
    return rejected


def _requests(actions: Iterable[Action]) -> Iterator[list[bytes]]:
    """Yield the items of each request. An item is one line or two."""
    items: list[bytes] = []
    size = 0
    for action in actions:
        lines = [part for part in expand_action(action) if part is not None]
        item = b"\n".join(map(_JSON.json_dumps, lines))
        if items and (size + len(item) > REQUEST_BYTES or len(items) >= REQUEST_ITEMS):
            yield items
            items, size = [], 0
        items.append(item)
        size += len(item)
    if items:
        yield items


def _send_request(cluster: Cluster, items: Sequence[bytes]) -> list[RejectedItem]:
    rejected = []
    client = cluster.client.options(max_retries=0)  # the client would retry at once
    for attempt in range(1, MAX_ATTEMPTS + 1):
        try:
            answer = client.bulk(operations=items)  # type: ignore[arg-type]  # lines as they are
        except (ApiError, ConnectionError, ConnectionTimeout) as error:
            if attempt == MAX_ATTEMPTS or not _is_transient(error):
                raise
            back_off(cluster, attempt)
            continue
        unsent = []
        for item, result in zip(items, answer["items"], strict=True):
            ((verb, outcome),) = result.items()
            if outcome["status"] in BUSY and attempt < MAX_ATTEMPTS and DISK_FULL not in _find_cause(outcome):
                unsent.append(item)
            elif outcome["status"] in (*BUSY, *_BLOCKED):
                raise _accepts_no_writes(outcome)
            elif outcome["status"] >= 300 and not (verb == "delete" and outcome["status"] == 404):
                rejected.append(RejectedItem(outcome["_id"], _rejection_reason(outcome)))
        if not unsent:
            break
        items = unsent
        back_off(cluster, attempt)
    return rejected


def _accepts_no_writes(outcome: dict[str, Any]) -> EngineUnreachable:
    """The error for an index that rejects all entries, whatever they contain."""
    return EngineUnreachable(f"{outcome['_index']} accepts no writes: {_rejection_reason(outcome)}")


def _is_transient(error: Exception) -> bool:
    """Whether a retry may help. Ids are fixed, so an item that did arrive is just overwritten."""
    if isinstance(error, ApiError):
        return error.meta.status in BUSY
    return not isinstance(error, TlsError)


def back_off(cluster: Cluster, attempt: int) -> None:
    """Wait for a random time that grows with each attempt, then switch to another node.

    Raises EngineUnreachable if nobody waits for the result any more.
    """
    longest = min(LONGEST_WAIT, FIRST_WAIT * 2 ** (attempt - 1))
    seconds = random.uniform(longest / 2, longest)
    if _worker.stopped is None:
        time.sleep(seconds)
    elif _worker.stopped.wait(seconds):
        raise EngineUnreachable("the load was stopped")
    cluster.switch_node()


def _rejection_reason(outcome: Mapping[str, Any]) -> str:
    """Why Elasticsearch rejects an item, followed by advice, if any."""
    return with_advice(_find_cause(outcome))


def _find_cause(outcome: Mapping[str, Any]) -> str:
    error = outcome.get("error", outcome)
    if isinstance(error, dict) and "failed to parse field" in str(error.get("reason")):
        return str(error["reason"])  # only the outer reason names the field
    while isinstance(error, dict) and isinstance(error.get("caused_by"), dict):
        error = error["caused_by"]
    return str(error.get("reason", error)) if isinstance(error, dict) else str(error)
