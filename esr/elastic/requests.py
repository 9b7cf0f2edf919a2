"""Requests whose answers are complete: searches, counts and refreshes.

When a node dies, the searches of its shards fail: Elasticsearch tries another copy only if it has no part of
the answer yet. So a request that lost shards is sent again as a whole, as long as a retry may help and the
deadline allows it.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, TypeVar

from elastic_transport import ObjectApiResponse
from elasticsearch import ApiError, BadRequestError, NotFoundError

from esr.elastic.cluster import Cluster
from esr.elastic.login import CLAUSE_LIMIT
from esr.errors import EngineUnreachable, UsageError
from esr.index.limits import time_remaining
from esr.stdlib import batched

Answer = TypeVar("Answer", bound=ObjectApiResponse[Any])

PAUSES = (0.1, 0.5, 2.0)
"""Seconds before each retry, on average."""
_ENTRIES = 500
"""Maximum number of entries in one answer."""
MAX_BUCKETS = 10_000
"""Maximum number of buckets in one answer."""
_NO_COPY = "no_shard_available_action_exception"
_SHARDS_FAILED = "search_phase_execution_exception"


def hits_of(answer: Any) -> list[Any]:
    """The hits in the answer to a search."""
    hits: list[Any] = answer["hits"]["hits"]
    return hits


def total_of(answer: Any) -> int:
    """The number of entries that a search matches, if it tracked the total."""
    return int(answer["hits"]["total"]["value"])


def ask(cluster: Cluster, send: Callable[[], Answer]) -> Answer:
    """The answer to a request, from a node with the current state of the indices.

    A node with an old state is replaced by another one (see `esr.elastic.cluster`). Raises EngineUnreachable
    if no current node answers in time, and any error of `send`.
    """
    if not cluster.has_other_nodes:
        return send()
    retries = _retries()
    while True:
        missing: NotFoundError | None = None
        try:
            answer = send()
            node = answer.meta.node
        except NotFoundError as error:
            missing, node = error, error.meta.node
        if cluster.is_current(node):
            if missing is not None:
                raise missing
            return answer
        if not next(retries, False):
            raise EngineUnreachable(
                f"{cluster.where}: the nodes that answer no longer serve the indices of this search: "
                "search again"
            )
        cluster.switch_node()


def search(cluster: Cluster, *, allow_partial: bool = False, **request: Any) -> Any:
    """The answer to a search from all shards; with `allow_partial`, from those that answer after all retries.

    Raises EngineUnreachable, IndexMissing, IndexUnusable or EsrError.
    """
    retries = _retries()
    while True:
        with cluster.translate_errors():
            try:
                answer = ask(
                    cluster,
                    lambda: cluster.client.search(allow_partial_search_results=allow_partial, **request),
                )
                if not _lost_shards(answer) or not next(retries, False):
                    return answer
            except ApiError as error:
                if not _is_shard_failure(error.meta.status, error.body) or not next(retries, False):
                    raise


def search_pages(cluster: Cluster, size: int, **request: Any) -> Iterator[Any]:
    """Yield the answers to a sorted search, in pages of `size` hits, up to the first page that is not full.

    Raises the errors of `search`.
    """
    while True:
        answer = search(cluster, size=size, **request)
        yield answer
        hits = hits_of(answer)
        if len(hits) < size:
            return
        request["search_after"] = hits[-1]["sort"]


def read_entries(
    cluster: Cluster, index: str, ids: Iterable[str], source: Any, **request: Any
) -> Iterator[Any]:
    """Yield the entries with these ids as hits with this part of their `_source`, in no particular order.

    Unknown ids are left out. `request` is the rest of the search. Raises the errors of `search`.
    """
    for batch in batched(ids, _ENTRIES):
        query = {"ids": {"values": batch}}
        answer = search(cluster, index=index, query=query, size=len(batch), source=source, **request)
        yield from hits_of(answer)


def read_buckets(
    cluster: Cluster,
    index: str,
    field: str,
    *,
    query: Mapping[str, Any] | None = None,
    after: str = "",
    aggs: Mapping[str, Any] | None = None,
) -> Iterator[Any]:
    """Yield the bucket of each value of a field, in order, starting after the value `after`.

    A bucket has the number of entries with its value, and the results of `aggs` over them. With a query, only
    matching entries count. Raises the errors of `search`.
    """
    composite: dict[str, Any] = {"size": MAX_BUCKETS, "sources": [{"value": {"terms": {"field": field}}}]}
    if after:
        composite["after"] = {"value": after}
    values = {"composite": composite, **({"aggs": aggs} if aggs else {})}
    while True:
        answer = search(cluster, index=index, size=0, query=query, aggs={"values": values})
        page = answer["aggregations"]["values"] if "aggregations" in answer else {"buckets": []}
        yield from page["buckets"]
        if len(page["buckets"]) < MAX_BUCKETS:
            return
        composite["after"] = page["after_key"]


def count(cluster: Cluster, index: str | Sequence[str], query: Mapping[str, Any] | None = None) -> int:
    """The number of entries, or of entries that match a query. Raises the errors of `search`.

    Elasticsearch's own count silently leaves out shards that do not answer.
    """
    answer = search(cluster, index=index, query=query, size=0, track_total_hits=True)
    return total_of(answer)


def refresh(cluster: Cluster, index: str | Sequence[str]) -> None:
    """Make all writes visible to searches, on every copy of every shard.

    A copy that misses the refresh silently answers from its old state. Raises EngineUnreachable if a copy
    does not answer, IndexMissing or EsrError.
    """
    retries = _retries()
    while True:
        with cluster.translate_errors():
            try:
                answer = cluster.client.indices.refresh(index=index)
            except ApiError as error:
                answer = error.body
                if not isinstance(answer, dict) or "_shards" not in answer:
                    raise
        if not answer["_shards"]["failed"]:
            return
        if not next(retries, False):
            raise EngineUnreachable(f"{cluster.where} is not fully available: {_failure(answer)} to refresh")
        cluster.switch_node()  # a node that recovers from a hang has an old state of the shards


def msearch(
    cluster: Cluster, searches: Sequence[Mapping[str, Any]], *, allow_partial: bool = False
) -> list[Any]:
    """The answers to several searches, from all shards. `searches` alternates headers and bodies.

    With `allow_partial`, the answers after all retries are returned, even those that are an `error`. Raises
    the errors of `search`.
    """

    def send() -> ObjectApiResponse[Any]:
        return cluster.client.msearch(searches=searches, include_named_queries_score=True)

    retries = _retries()
    while True:
        with cluster.translate_errors():
            response = ask(cluster, send)
        answers = list(response["responses"])
        failures = [answer for answer in answers if "error" in answer or count_lost_shards(answer)]
        if not failures:
            return answers
        can_retry = all(
            _is_shard_failure(answer["status"], answer) if "error" in answer else _lost_shards(answer)
            for answer in failures
        )
        if can_retry and next(retries, False):
            continue
        if allow_partial:
            return answers
        failure = failures[0]
        error = failure.get("error", {})
        if error and (failure.get("status", 500) < 500 or _has_too_many_clauses(error)):
            # raise what a single search would
            with cluster.translate_errors():
                meta = replace(response.meta, status=failure["status"])
                raise ApiError(str(error.get("type")), meta, failure)
        raise EngineUnreachable(f"{cluster.where} is not fully available: {_failure(failure)}")


def msearch_dfs(cluster: Cluster, searches: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Any]:
    """The answers to several searches (index, body), with term statistics over all shards of the index.

    Raises the errors of `search`.
    """
    lines: list[Mapping[str, Any]] = []
    for index, body in searches:
        lines += [{"index": index, "search_type": "dfs_query_then_fetch"}, body]
    return msearch(cluster, lines)


def find_unavailable(cluster: Cluster) -> set[str]:
    """The indices behind the aliases of which a shard does not answer."""
    unavailable: set[str] = set()
    for alias in (cluster.alias, cluster.documents_alias):
        answer = search(cluster, allow_partial=True, index=alias, size=0, track_total_hits=True)
        names = failed_indices(answer)
        if count_lost_shards(answer) and not names:  # an index without any copy is not named by OpenSearch
            names = {name for name in alias.split(",") if _lacks_shards(cluster, name)}
        unavailable |= names
    return unavailable


def _lacks_shards(cluster: Cluster, index: str) -> bool:
    try:
        return count_lost_shards(search(cluster, allow_partial=True, index=index, size=0)) > 0
    except EngineUnreachable:  # none of its shards answers
        return True


def count_lost_shards(answer: Any) -> int:
    """The number of shards that are not in an answer. OpenSearch calls none failed that has no copy."""
    shards = answer["_shards"]
    failed: int = shards["failed"]
    absent: int = shards["total"] - shards.get("successful", shards["total"])
    return max(failed, absent)


def failed_indices(answer: Any) -> set[str]:
    """The indices of the shards that failed in the answer to a search."""
    return {failure["index"] for failure in answer["_shards"].get("failures", ()) if "index" in failure}


def _retries() -> Iterator[bool]:
    """Wait and yield True before each retry that the deadline allows, leaving time for a partial answer."""
    for pause in PAUSES:
        seconds = random.uniform(0.5, 1.5) * pause
        if time_remaining(math.inf) < 4 * seconds:
            return
        time.sleep(seconds)
        yield True


def _lost_shards(answer: Any) -> bool:
    """Whether shards with another copy failed, so that a retry may help."""
    failures = answer["_shards"].get("failures", ())
    return any(failure["reason"]["type"] != _NO_COPY for failure in failures)


def _is_shard_failure(status: int, body: Any) -> bool:
    """Whether an error says that shards failed during the search, so that a retry may help."""
    error = body.get("error") if isinstance(body, dict) else None
    if status < 500 or not isinstance(error, dict) or error.get("type") != _SHARDS_FAILED:
        return False
    if _has_too_many_clauses(error):
        return False
    causes = error.get("root_cause") or ()
    return not causes or any(cause.get("type") != _NO_COPY for cause in causes)


def _has_too_many_clauses(error: Mapping[str, Any]) -> bool:
    """Whether an error says that the query is too large for the server."""
    return CLAUSE_LIMIT.search(str(error)) is not None


def _failure(answer: Any) -> str:
    if "error" in answer:
        causes = answer["error"].get("root_cause") or [answer["error"]]
        return str(causes[0].get("reason"))
    return f"{count_lost_shards(answer)} of {answer['_shards']['total']} shards failed"


def store_search_template(where: str, source: str) -> str:
    """Store a search template, and return its name, `esr-` and the alias.

    Raises UsageError if the server stores none.
    """
    with closing(Cluster(where)) as cluster, cluster.translate_errors():
        name = f"esr-{cluster.aliases.sentences}"
        try:
            cluster.client.put_script(id=name, script={"lang": "mustache", "source": source})
        except BadRequestError as error:
            if "unsupported lang" not in str(error):
                raise
            raise UsageError(
                f"{cluster.where} stores no search templates, as its server lacks the module "
                "lang-mustache: use a client of clients/, or --standalone"
            ) from error
        return name


FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
