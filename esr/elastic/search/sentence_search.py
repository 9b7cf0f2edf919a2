"""The requests of one search for sentences and their answers; sentences and parses by id.

A search may presume that the aliases still point to the same pair of indices, which saves the request that
looks them up. The answer of a search sent to an alias confirms this, since it has the index of each hit and
the number of shards. If all hits are from one index, which has that number of shards, no other index is
behind the alias. Both aliases move in one step, so checking one of them is enough.
"""

from __future__ import annotations

import time
from base64 import b64decode
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from esr.elastic.cluster import Cluster
from esr.elastic.connection import AliasTargets
from esr.elastic.dialect import NAMED_SCORES
from esr.elastic.documents import decode_quotes, decode_sentence
from esr.elastic.impacts import Slack
from esr.elastic.location import is_of_period
from esr.elastic.requests import (
    count_lost_shards,
    failed_indices,
    hits_of,
    msearch,
    read_entries,
    search,
    total_of,
)
from esr.elastic.search.plan_query import RECORD_FIELDS, SORT, Query, score_query
from esr.elastic.statistics import MAX_AGE
from esr.errors import NotFound
from esr.index.filters import Filters
from esr.index.hits import Hit, SearchResult, WindowSentence
from esr.plans.plan import CollectionStatistics, Plan
from esr.stdlib import batched
from esr.text.sentence_enrichment import QUOTES


class SnapshotOutdated(Exception):
    """The aliases no longer point to the presumed indices: the search has to be repeated."""


class Presumption:
    """The presumption that the aliases point to `targets`. `confirmed`: an answer has confirmed it."""

    def __init__(self, aliases: AliasTargets, targets: AliasTargets, shards: Mapping[str, int]) -> None:
        """`shards`: the number of shards of each target that was searched before."""
        self._aliases = dict(zip(targets, aliases, strict=True))
        self._shards = shards
        self.confirmed: bool = False

    def needs(self, index: str) -> bool:
        """Whether a search of this index should be sent to its alias, so that its answer can be checked."""
        return not self.confirmed and index in self._shards

    def alias(self, index: str) -> str:
        """The alias of this index, according to the presumption."""
        return self._aliases[index]

    def check(self, index: str, answer: Any) -> None:
        """Check the answer to a search of this index's alias. An answer without hits confirms nothing.

        Raises SnapshotOutdated.
        """
        others = any(hit["_index"] != index for hit in hits_of(answer))
        if others or answer["_shards"]["total"] != self._shards[index]:
            raise SnapshotOutdated
        self.confirmed = bool(hits_of(answer))


PAGE = 10_000
"""The most hits that Elasticsearch returns in one answer."""
_FIELDS = {"source": "_source"}
"""Parameters that the client and Elasticsearch name differently."""
_HEADER = {"index", NAMED_SCORES}
"""Parameters that do not belong to the body of a request."""


@dataclass(slots=True)
class Search:
    """A plan, and where it runs. `incomplete` says what the answers so far are missing.

    `records`: whether hits have records. `slack`: the base and slack of bounds by impacts, if they apply to
    the plan. `presumption`: that the cluster's indices are those behind the aliases. `shards` collects the
    number of shards of each index searched.
    """

    cluster: Cluster
    plan: Plan
    collection: CollectionStatistics
    filters: Filters
    records: bool
    slack: Slack | None = None
    presumption: Presumption | None = None
    shards: dict[str, int] = field(default_factory=dict)
    incomplete: str | None = field(default=None, init=False)

    def exhaustive(self, k: int, reason: str | None) -> SearchResult:
        """The result of scoring every candidate. `reason` says why that is necessary."""
        query, shift = score_query(self.plan, self.collection, self.filters, is_own=True)
        body: dict[str, Any] = {"query": query, "sort": SORT, **hit_fields(self.records)}
        hits: list[Hit] = []
        total = 0
        while len(hits) < k:
            answer = self.send(size=min(PAGE, k - len(hits)), track_total_hits=not hits, **body)
            total = total if hits else total_of(answer)
            page = hits_of(answer)
            hits += decode_hits(page, self.records, shift)
            if len(page) < PAGE:
                break
            body["search_after"] = page[-1]["sort"]
        return SearchResult(hits, total, self.incomplete, total, reason)

    def within(self, clause: Query, k: int, beside: dict[str, Any] | None) -> tuple[list[Hit], int, Any]:
        """The best k candidates that match the clause, the number of matches, and the answer to `beside`.

        The clause replaces the filter for documents. `beside` is another request, which names its index and
        is sent together with this one.
        """
        filters = replace(self.filters, documents=())
        query, shift = score_query(self.plan, self.collection, filters, is_own=True, within=clause)
        body = {"query": query, "size": k, "sort": SORT, "track_total_hits": True, **hit_fields(self.records)}
        if beside is None:
            answer, of_beside = self.send(**body), None
        else:
            answer, of_beside = self.send_together({"index": self.cluster.alias, **body}, beside)
        return decode_hits(hits_of(answer), self.records, shift), total_of(answer), of_beside

    def send(self, *, index: str | None = None, **body: Any) -> Any:
        """The answer to one request, which searches the sentences if it names no index.

        Raises SnapshotOutdated.
        """
        seconds, index = self.cluster.search_seconds, index or self.cluster.alias
        presumption = self._presumption_to_check(index)
        answer = search(
            self.cluster,
            allow_partial=True,
            index=index if presumption is None else presumption.alias(index),
            timeout=_milliseconds(seconds),
            **body,
        )
        if presumption is not None:
            presumption.check(index, answer)
        self.shards[index] = answer["_shards"]["total"]
        self.note_missing(answer, seconds)
        return answer

    def send_together(self, *requests: dict[str, Any]) -> list[Any]:
        """The answers to several requests, sent as one. Each names its index. Raises SnapshotOutdated."""
        seconds = self.cluster.search_seconds
        indices = [request["index"] for request in requests]
        first = indices[0]
        presumption = self._presumption_to_check(first)
        if presumption is not None:
            indices[0] = presumption.alias(first)
        lines: list[dict[str, Any]] = []
        for index, request in zip(indices, requests, strict=True):
            body = {_FIELDS.get(name, name): value for name, value in request.items() if name not in _HEADER}
            lines += [{"index": index}, {**body, "timeout": _milliseconds(seconds)}]
        answers = msearch(self.cluster, lines, allow_partial=True)
        if any("error" in answer for answer in answers):
            return [self.send(**request) for request in requests]  # a failing one raises its error
        if presumption is not None:
            presumption.check(first, answers[0])
        for request, answer in zip(requests, answers, strict=True):
            self.shards[request["index"]] = answer["_shards"]["total"]
            self.note_missing(answer, seconds)
        return answers

    def _presumption_to_check(self, index: str) -> Presumption | None:
        """The presumption, if a search of this index should check it, or None."""
        presumption = self.presumption
        return presumption if presumption is not None and presumption.needs(index) else None

    def note_missing(self, answer: Any, seconds: float) -> None:
        """Note why an answer is incomplete: a time-out, or failed shards. The first reason stays."""
        self.incomplete = self.incomplete or _missing(answer, seconds)


def hit_fields(records: bool) -> dict[str, Any]:
    """The fields of each hit. Without records, only doc values: stored fields share blocks with texts."""
    if records:
        return {"source": RECORD_FIELDS}
    return {"stored_fields": "_none_", "docvalue_fields": [{"field": "sentence_id"}]}


def decode_hits(page: Sequence[Any], records: bool, shift: float = 0.0) -> list[Hit]:
    """The hits of an answer, whose second sort value is the ordinal. Unscored hits get the score `shift`."""
    return [decode_hit(hit, records, (hit["_score"] or 0.0) + shift, hit["sort"][1]) for hit in page]


def decode_hit(hit: Any, records: bool, score: float, ordinal: int) -> Hit:
    """A hit of an answer, with this score and ordinal."""
    record = decode_sentence(hit["_source"]) if records else None
    sentence_id = record.sentence_id if record else hit["fields"]["sentence_id"][0]
    return Hit(sentence_id, score, record, ordinal)


def _milliseconds(seconds: float) -> str:
    return f"{max(1, round(seconds * 1000))}ms"  # Elasticsearch takes integers only


def _missing(answer: Any, seconds: float) -> str | None:
    """The failures inside a response with status 200, None if there are none."""
    shards = answer["_shards"]
    if lost := count_lost_shards(answer):
        periods = sorted(filter(is_of_period, failed_indices(answer)))
        named = f", of {', '.join(periods)}" if periods else ""
        return f"{lost} of {shards['total']} shards failed{named}"
    return f"the search took longer than {seconds:g} seconds" if answer["timed_out"] else None


_BATCH = 1000


def look_up_sources(
    cluster: Cluster, ids: Sequence[str], source: bool | list[str] | dict[str, Any]
) -> list[Any]:
    """The `_source` of these sentences, or some of its fields, in this order.

    Raises UsageError for an unknown id.
    """
    sources = {hit["_id"]: hit["_source"] for hit in read_entries(cluster, cluster.alias, ids, source)}
    _check_ids(cluster, ids, sources)
    return [sources[sentence_id] for sentence_id in ids]


class StoredParses:
    """Whether an index has parses, cached for some seconds."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._read_at = -MAX_AGE
        self._exist = False

    def exist(self) -> bool:
        now = time.monotonic()
        if now - self._read_at >= MAX_AGE:
            query, index = {"exists": {"field": "parse"}}, self._cluster.alias
            answer = search(
                self._cluster, index=index, query=query, size=0, terminate_after=1, track_total_hits=True
            )
            self._exist, self._read_at = total_of(answer) > 0, now
        return self._exist


def look_up_values(cluster: Cluster, ids: Sequence[str], field: str) -> list[str | None]:
    """The value of a keyword of these sentences, in this order. Raises UsageError for an unknown id."""
    values = {
        hit["_id"]: hit.get("fields", {}).get(field, [None])[0]
        for hit in read_entries(cluster, cluster.alias, ids, False, docvalue_fields=[field])
    }
    _check_ids(cluster, ids, values)
    return [values[sentence_id] for sentence_id in ids]


def look_up_windows(
    cluster: Cluster, ids: Sequence[str], places: Sequence[tuple[str, int]], around: Sequence[int]
) -> list[tuple[WindowSentence, ...]]:
    """The sentences of windows around these sentences, in one request (`esr.index.questions.Windows`).

    Raises NotFound for an unknown id, or one that is at another place.
    """
    clauses: list[Query] = [{"ids": {"values": list(ids)}}]
    for (document_id, position), width in zip(places, around, strict=True):
        if width:
            positions = {"gte": position - width, "lte": position + width}
            in_document = {"term": {"document_id": document_id}}
            clauses.append({"bool": {"filter": [in_document, {"range": {"position": positions}}]}})
    answer = search(
        cluster,
        index=cluster.alias,
        query={"bool": {"filter": {"bool": {"should": clauses}}}},
        size=min(sum(1 + 2 * width for width in around), PAGE),
        source=["document_id", "position", "text", QUOTES],
    )
    sentences = {}
    for hit in hits_of(answer):
        source = hit["_source"]
        document_id, position = source["document_id"], source["position"]
        sentences[document_id, position] = WindowSentence(
            hit["_id"], position, source["text"], decode_quotes(source)
        )
    at_places = [sentences[place].sentence_id for place in places if place in sentences]
    _check_ids(cluster, ids, at_places)
    return [
        tuple(
            sentences[document_id, n]
            for n in range(max(0, position - width), position + width + 1)
            if (document_id, n) in sentences
        )
        for (document_id, position), width in zip(places, around, strict=True)
    ]


def look_up_parses(cluster: Cluster, ids: Sequence[str]) -> list[bytes | None]:
    """The stored parses of these sentences, in this order. Raises UsageError for an unknown id.

    They are read from doc values: stored fields, even _id, share blocks with the text of whole documents.
    """
    parses: dict[str, bytes | None] = {}
    for batch in batched(ids, _BATCH):
        answer = search(
            cluster,
            index=cluster.alias,
            query={"bool": {"filter": {"terms": {"sentence_id": batch}}}},
            size=len(batch),
            stored_fields="_none_",
            docvalue_fields=[{"field": "sentence_id"}, {"field": "parse"}],
        )
        for fields in (hit["fields"] for hit in hits_of(answer)):
            parse = fields.get("parse")
            parses[fields["sentence_id"][0]] = b64decode(parse[0] + "==") if parse else None
    _check_ids(cluster, ids, parses)
    return [parses[sentence_id] for sentence_id in ids]


def _check_ids(cluster: Cluster, ids: Sequence[str], known: Container[str]) -> None:
    for sentence_id in ids:
        if sentence_id not in known:
            raise NotFound(f"there is no sentence {sentence_id!r} in {cluster.where}")
