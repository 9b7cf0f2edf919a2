"""Searches, counts and refreshes that all shards answer.

A node that dies takes the shards with it that it was searching for others: Elasticsearch asks another copy
only if no part of the answer was there yet. So what failed is asked again, as a whole, while that may help.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from elasticsearch import ApiError

from esr.engines import deadline
from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.errors import EngineUnreachable, IndexMissing

PAUSES = (0.1, 0.5, 2.0)
"""Seconds until it is asked again, on average."""
_NO_COPY = "no_shard_available_action_exception"
_PARTS_LOST = "search_phase_execution_exception"


def search(cluster: Cluster, *, partial: bool = False, **request: Any) -> Any:
    """The answer to a search, of all shards; with `partial`, of those that answer in the end.

    Raises EngineUnreachable, IndexMissing, IndexUnusable or EsrError.
    """
    pauses = _pauses()
    while True:
        with cluster.errors():
            try:
                answer = cluster.client.search(allow_partial_search_results=partial, **request)
                if not _may_be_had(answer) or not next(pauses, False):
                    return answer
            except ApiError as error:
                if not _lost(error.meta.status, error.body) or not next(pauses, False):
                    raise


def pages(cluster: Cluster, size: int, **request: Any) -> Iterator[Any]:
    """The answers to a sorted search, one after the other, with so many hits each, until one has fewer.

    Raises what `search` does.
    """
    while True:
        answer = search(cluster, size=size, **request)
        yield answer
        hits = answer["hits"]["hits"]
        if len(hits) < size:
            return
        request["search_after"] = hits[-1]["sort"]


def count(cluster: Cluster, index: str | Sequence[str], query: Mapping[str, Any] | None = None) -> int:
    """How many entries there are, or how many a query finds. Raises what `search` does.

    Elasticsearch's own count leaves out the shards that do not answer, and is no error.
    """
    answer = search(cluster, index=index, query=query, size=0, track_total_hits=True)
    return int(answer["hits"]["total"]["value"])


def refresh(cluster: Cluster, index: str | Sequence[str]) -> None:
    """Let every copy of every shard be searched as it is now.

    A copy that did not hear of it answers as it was before, and says nothing. Raises EngineUnreachable where
    one does not, IndexMissing or EsrError.
    """
    pauses = _pauses()
    while True:
        with cluster.errors():
            try:
                answer = cluster.client.indices.refresh(index=index)
            except ApiError as error:
                answer = error.body
                if not isinstance(answer, dict) or "_shards" not in answer:
                    raise
        if not answer["_shards"]["failed"]:
            return
        if not next(pauses, False):
            raise EngineUnreachable(f"{cluster.where} is not whole: {_failure(answer)} to be refreshed")
        cluster.turn()  # a node that hung and comes back speaks of shards as they were


def msearch(cluster: Cluster, searches: Sequence[Mapping[str, Any]], *, partial: bool = False) -> list[Any]:
    """The answers to several searches, of all shards. `searches`: a line to say where, one to say what, …

    With `partial`, they are given as they are in the end, also with an `error` of their own. Raises what
    `search` does.
    """
    pauses = _pauses()
    while True:
        with cluster.errors():
            answers = list(cluster.client.msearch(searches=searches)["responses"])
        failed = [each for each in answers if "error" in each or each["_shards"]["failed"]]
        if not failed:
            return answers
        again = all(_lost(each["status"], each) if "error" in each else _may_be_had(each) for each in failed)
        if again and next(pauses, False):
            continue
        if partial:
            return answers
        kind = IndexMissing if failed[0].get("status") == 404 else EngineUnreachable
        raise kind(f"{cluster.where} is not whole: {_failure(failed[0])}")


def _pauses() -> Iterator[bool]:
    """Waits, and gives True, as often as there is time: an answer comes before a whole one."""
    for pause in PAUSES:
        seconds = random.uniform(0.5, 1.5) * pause
        if deadline.time_remaining(math.inf) < 4 * seconds:
            return
        time.sleep(seconds)
        yield True


def _may_be_had(answer: Any) -> bool:
    """Whether shards failed that have a copy somewhere."""
    failures = answer["_shards"].get("failures", ())
    return any(each["reason"]["type"] != _NO_COPY for each in failures)


def _lost(status: int, body: Any) -> bool:
    """Whether an error is one of shards that were searched and did not end."""
    error = body.get("error") if isinstance(body, dict) else None
    if status < 500 or not isinstance(error, dict) or error.get("type") != _PARTS_LOST:
        return False
    causes = error.get("root_cause") or ()
    return not causes or any(cause.get("type") != _NO_COPY for cause in causes)


def _failure(answer: Any) -> str:
    if "error" in answer:
        causes = answer["error"].get("root_cause") or [answer["error"]]
        return str(causes[0].get("reason"))
    return f"{answer['_shards']['failed']} of {answer['_shards']['total']} shards failed"
