"""One search for sentences: its requests, and what they answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from esr.engines import deadline
from esr.engines.elasticsearch.cluster.asking import msearch, search
from esr.engines.elasticsearch.cluster.cluster import REQUEST_TIMEOUT, SEARCH_TIMEOUT, Cluster
from esr.engines.elasticsearch.search.raw import SHOWN, SORT
from esr.engines.elasticsearch.search.request import scored
from esr.engines.elasticsearch.store.stored import record_of
from esr.engines.index import Filters, Hit, SearchResult
from esr.plans.plan import Plan
from esr.plans.statistics import CollectionStatistics

PAGE = 10_000
"""Hits in one answer; Elasticsearch gives no more."""


@dataclass(slots=True)
class Search:
    """A plan, and where it runs. `incomplete` says what was missing from any answer so far.

    `kept`: documents have impacts that fit the plan.
    """

    cluster: Cluster
    plan: Plan
    collection: CollectionStatistics
    filters: Filters
    records: bool
    kept: bool = False
    incomplete: str | None = field(default=None, init=False)

    def everything(self, k: int, exhaustive: str | None) -> SearchResult:
        """The answer by scoring every candidate. `exhaustive`: why."""
        query, shift = scored(self.plan, self.collection, self.filters)
        body: dict[str, Any] = {"query": query, "sort": SORT, **self._shown}
        hits: list[Hit] = []
        total = 0
        while len(hits) < k:
            answer = self.ask(size=min(PAGE, k - len(hits)), track_total_hits=not hits, **body)
            total = total if hits else answer["hits"]["total"]["value"]
            found = answer["hits"]["hits"]
            hits += self._hits(found, shift)
            if len(found) < PAGE:
                break
            body["search_after"] = found[-1]["sort"]
        return SearchResult(hits, total, self.incomplete, total, exhaustive)

    def of_documents(self, ids: Sequence[str], k: int) -> tuple[list[Hit], int]:
        """The best k candidates of these documents, and how many candidates they have."""
        inside = replace(self.filters, documents=tuple(ids))  # these passed the filter for documents before
        query, shift = scored(self.plan, self.collection, inside)
        answer = self.ask(query=query, size=k, sort=SORT, track_total_hits=True, **self._shown)
        return self._hits(answer["hits"]["hits"], shift), answer["hits"]["total"]["value"]

    def ask(self, *, index: str | None = None, **body: Any) -> Any:
        """One request; of the sentences if no index is named."""
        seconds = _seconds()
        answer = search(
            self.cluster,
            partial=True,
            index=index or self.cluster.alias,
            timeout=_milliseconds(seconds),
            **body,
        )
        return self._told(answer, seconds)

    def ask_both(self, *requests: dict[str, Any]) -> list[Any]:
        """Several at once, each naming its index."""
        seconds = _seconds()
        lines: list[dict[str, Any]] = []
        for request in requests:
            body = {name: value for name, value in request.items() if name != "index"}
            lines += [{"index": request["index"]}, {**body, "timeout": _milliseconds(seconds)}]
        answers = msearch(self.cluster, lines, partial=True)
        if any("error" in answer for answer in answers):
            return [self.ask(**request) for request in requests]  # alone, it raises what is wrong
        return [self._told(answer, seconds) for answer in answers]

    def _told(self, answer: Any, seconds: float) -> Any:
        """The answer; what it lacks is remembered."""
        self.incomplete = self.incomplete or _missing(answer, seconds)
        return answer

    @property
    def _shown(self) -> dict[str, Any]:
        """What comes with each hit. Stored fields, even _id, lie in blocks with whole texts."""
        if self.records:
            return {"source": SHOWN}
        return {"stored_fields": "_none_", "docvalue_fields": [{"field": "sentence_id"}]}

    def _hits(self, found: Sequence[Any], shift: float) -> list[Hit]:
        hits = []
        for each in found:
            record = record_of(each["_source"]) if self.records else None
            name = record.sentence_id if record else each["fields"]["sentence_id"][0]
            hits.append(Hit(name, each["_score"] + shift, record, each["sort"][1]))
        return hits


def _seconds() -> float:
    """How long Elasticsearch may search. The client waits longer, so that it can answer with what it has."""
    return round(min(SEARCH_TIMEOUT, SEARCH_TIMEOUT / REQUEST_TIMEOUT * deadline.left(math.inf)), 3)


def _milliseconds(seconds: float) -> str:
    return f"{max(1, round(seconds * 1000))}ms"  # it takes whole numbers only


def _missing(answer: Any, seconds: float) -> str | None:
    """What is missing from an answer that Elasticsearch calls a success."""
    shards = answer["_shards"]
    if shards["failed"]:
        return f"{shards['failed']} of {shards['total']} shards failed"
    return f"the search took longer than {seconds:g} seconds" if answer["timed_out"] else None
