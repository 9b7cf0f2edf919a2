"""One search for sentences: its requests and their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from esr.engines.elasticsearch.cluster.cluster import Cluster
from esr.engines.elasticsearch.cluster.requests import NAMED_SCORES, msearch, search
from esr.engines.elasticsearch.search.filter_clauses import Query
from esr.engines.elasticsearch.search.presumption import Presumption
from esr.engines.elasticsearch.search.score_query import score_query
from esr.engines.elasticsearch.search.search_body import RECORD_FIELDS, SORT
from esr.engines.elasticsearch.store.lift_description import Widening
from esr.engines.elasticsearch.store.source_decoder import decode_sentence
from esr.engines.index import Filters, Hit, SearchResult
from esr.plans.plan import Plan
from esr.plans.statistics import CollectionStatistics

PAGE = 10_000
"""Hits in one answer; Elasticsearch gives no more."""
_FIELDS = {"source": "_source"}
"""What the client calls otherwise than Elasticsearch."""
_HEADER = {"index", NAMED_SCORES}
"""What does not belong to the body of a request."""


@dataclass(slots=True)
class Search:
    """A plan, and where it runs. `incomplete` says what any answer so far has lacked.

    `records`: hits come with their records. `widening`: what makes bounds of the sentences' lifts, if these
    apply to the plan. `presumption`: that the cluster's indices are those behind the aliases.
    `shards` takes the number of shards of each index that was searched.
    """

    cluster: Cluster
    plan: Plan
    collection: CollectionStatistics
    filters: Filters
    records: bool
    widening: Widening | None = None
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
            total = total if hits else answer["hits"]["total"]["value"]
            page = answer["hits"]["hits"]
            hits += decode_hits(page, self.records, shift)
            if len(page) < PAGE:
                break
            body["search_after"] = page[-1]["sort"]
        return SearchResult(hits, total, self.incomplete, total, reason)

    def within(self, clause: Query, k: int, beside: dict[str, Any] | None) -> tuple[list[Hit], int, Any]:
        """The best k of the candidates that match the clause, and how many candidates match it.

        The clause replaces the filter for documents. Also returns the answer to a request that is sent with
        this one, and names its index.
        """
        filters = replace(self.filters, documents=())
        query, shift = score_query(self.plan, self.collection, filters, is_own=True, within=clause)
        body = {"query": query, "size": k, "sort": SORT, "track_total_hits": True, **hit_fields(self.records)}
        if beside is None:
            answer, of_beside = self.send(**body), None
        else:
            answer, of_beside = self.send_together({"index": self.cluster.alias, **body}, beside)
        hits = answer["hits"]
        return decode_hits(hits["hits"], self.records, shift), hits["total"]["value"], of_beside

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
        self._note_missing(answer, seconds)
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
            return [self.send(**request) for request in requests]  # alone, it raises what is wrong
        if presumption is not None:
            presumption.check(first, answers[0])
        for request, answer in zip(requests, answers, strict=True):
            self.shards[request["index"]] = answer["_shards"]["total"]
            self._note_missing(answer, seconds)
        return answers

    def _presumption_to_check(self, index: str) -> Presumption | None:
        """The presumption, if the answer to a search of this index shall be one of its alias."""
        presumption = self.presumption
        return presumption if presumption is not None and presumption.needs(index) else None

    def _note_missing(self, answer: Any, seconds: float) -> None:
        self.incomplete = self.incomplete or _missing(answer, seconds)


def hit_fields(records: bool) -> dict[str, Any]:
    """What comes with each hit. Stored fields, even _id, lie in blocks with complete texts."""
    if records:
        return {"source": RECORD_FIELDS}
    return {"stored_fields": "_none_", "docvalue_fields": [{"field": "sentence_id"}]}


def decode_hits(page: Sequence[Any], records: bool, shift: float = 0.0) -> list[Hit]:
    """The hits of an answer, whose second sort value is the ordinal. Without scores, theirs is the shift."""
    return [decode_hit(hit, records, (hit["_score"] or 0.0) + shift, hit["sort"][1]) for hit in page]


def decode_hit(hit: Any, records: bool, score: float, ordinal: int) -> Hit:
    """A hit of an answer, with this score and ordinal."""
    record = decode_sentence(hit["_source"]) if records else None
    sentence_id = record.sentence_id if record else hit["fields"]["sentence_id"][0]
    return Hit(sentence_id, score, record, ordinal)


def _milliseconds(seconds: float) -> str:
    return f"{max(1, round(seconds * 1000))}ms"  # Elasticsearch takes integers only


def _missing(answer: Any, seconds: float) -> str | None:
    """What an answer lacks that Elasticsearch calls a success."""
    shards = answer["_shards"]
    if shards["failed"]:
        return f"{shards['failed']} of {shards['total']} shards failed"
    return f"the search took longer than {seconds:g} seconds" if answer["timed_out"] else None
