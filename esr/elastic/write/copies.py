"""Finds and stores the copies of an alias: reads the terms of its documents, and updates its sentences.

A run changes the slot that is not served (`esr.elastic.copies`) to what it has found, since that slot has
what an earlier or a killed run left. After the switch, the documents get the recipe's fingerprint: without
it, the next run compares their sentences again.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.copies import COPIES, GROUP, SLOTS, encode_member, other_slot, serving_slots, slot_field
from esr.elastic.documents import WITHOUT_CONTEXT, decode_document
from esr.elastic.location import sentences_index
from esr.elastic.requests import hits_of, search_pages
from esr.enrichment.copy_finder import NO_GROUP, UNKNOWN, SentenceTerms
from esr.enrichment.copy_wording import Integers
from esr.enrichment.recipe import Recipe
from esr.text.analyzer import Analyzer
from esr.text.dates import parse_date_start

Change = tuple[str, str, dict[str, Any]]
"""The index of a sentence, its id, and what its slots have now."""
_PAGE = 500
_NO_DATE = np.iinfo(np.int64).max


class _Entry(NamedTuple):
    """A document: its index of documents, the index of its sentences, its id, whether it has the recipe's
    fingerprint.
    """

    documents_index: str
    sentences_index: str
    id: str
    is_done: bool


class StoredCopies:
    """The sentences of an alias as one run reads them, and the updates that new groups need.

    `slot` is the one that is served. An index that was added later may serve the other one.
    """

    def __init__(self, cluster: Cluster, analyzer: Analyzer, recipe: Recipe) -> None:
        self._cluster, self._analyzer = cluster, analyzer
        (self._mark,) = recipe.fingerprints.values()
        self._entries: list[_Entry] = []
        self._ids: list[str] = []
        self._document = array("q")
        self._date = array("q")
        self._stored: dict[str, Mapping[str, str]] = {}
        """By sentence, its groups by slot, if it is in one."""
        self._slots = serving_slots(cluster, [load.index for load in meta.searchable_loads(cluster)])
        self.slot: str = next(iter(self._slots.values()), SLOTS[0])

    def read(self) -> SentenceTerms:
        """The terms of all sentences, and the groups of the documents that have the fingerprint."""
        numbers: dict[str, int] = {}
        sources: dict[str | None, int] = {}
        texts: list[str] = []
        terms, starts, source = array("q"), array("q", [0]), array("q")
        for hit in self._read_hits(self._cluster.documents_alias, {"match_all": {}}, WITHOUT_CONTEXT):
            fields = hit["_source"]
            document = decode_document(fields)
            analyze = self._analyzer.for_language(document.language).terms
            for sentence in document.sentences:
                different = {numbers.setdefault(term, len(numbers)) for term in analyze(sentence.text)}
                terms.extend(sorted(different))
                starts.append(len(terms))
                self._ids.append(sentence.id)
                texts.append(sentence.text)
                self._document.append(len(self._entries))
            index = sentences_index(hit["_index"])
            is_done = index in self._slots and self._mark in fields.get("enriched", ())
            self._entries.append(_Entry(hit["_index"], index, hit["_id"], is_done))
            date = document.date
            self._date.append(_NO_DATE if date is None else parse_date_start(date))
            source.append(sources.setdefault(document.source, len(sources)))
        grouped = {"bool": {"should": [{"exists": {"field": slot_field(slot)}} for slot in SLOTS]}}
        for hit in self._read_hits(self._cluster.alias, grouped, [f"{COPIES}.*.{GROUP}"]):
            slots = hit["_source"][COPIES]
            self._stored[hit["_id"]] = {slot: slots[slot][GROUP] for slot in SLOTS if slot in slots}
        return SentenceTerms(
            np.array(starts, np.int64),
            np.array(terms, np.int64),
            len(numbers),
            np.array(self._document, np.int64),
            self._number_groups(),
            np.array(self._date, np.int64),
            np.array(source, np.int64),
            lambda rows: [texts[n] for n in rows.tolist()],
        )

    def _read_hits(self, alias: str, query: Mapping[str, Any], source: Any) -> Iterator[Any]:
        body: dict[str, Any] = {"query": query, "sort": [{"ordinal": "asc"}], "source": source}
        for page in search_pages(self._cluster, _PAGE, index=alias, **body):
            yield from hits_of(page)

    def _number_groups(self) -> Integers:
        """The stored group of each sentence as a number, UNKNOWN in documents without the fingerprint."""
        known: dict[str, int] = {}
        groups = np.full(len(self._ids), UNKNOWN, np.int32)
        for n, document in enumerate(self._document):
            if self._entries[document].is_done:
                group = self._served(n)
                groups[n] = NO_GROUP if group is None else known.setdefault(group, len(known) + 1)
        return groups

    def _served(self, n: int) -> str | None:
        """The group of the sentence with this number, as searches see it."""
        slots = self._stored.get(self._ids[n], {})
        return slots.get(self._slots.get(self._entries[self._document[n]].sentences_index, SLOTS[0]))

    def list_disagreeing(self) -> list[str]:
        """The indices of sentences that do not serve `slot`."""
        return [index for index, slot in self._slots.items() if slot != self.slot]

    def repeat_served(self, index: str) -> Iterator[Change]:
        """The changes that give `slot` of an index the groups that it serves."""
        for n, document in enumerate(self._document):
            if self._entries[document].sentences_index == index:
                yield from self._change(n, self.slot, self._served(n))
        self._slots[index] = self.slot

    def list_changes(self, groups: Integers) -> Iterator[Change]:
        """The changes that give the other slot these groups."""
        members = np.flatnonzero(groups)
        dates = np.array(self._date, np.int64)[np.array(self._document, np.int64)[members]]
        order = members[np.lexsort((members, dates, groups[members]))].tolist()
        wanted: dict[str, str] = {}
        for _, of_group in groupby(order, key=lambda n: int(groups[n])):
            rows = list(of_group)
            if len({self._document[n] for n in rows}) > 1:
                wanted |= {self._ids[n]: self._ids[rows[0]] for n in rows}
        for n, id in enumerate(self._ids):
            yield from self._change(n, other_slot(self.slot), wanted.get(id))

    def _change(self, n: int, slot: str, group: str | None) -> Iterator[Change]:
        """The change of a slot of the sentence with this number, if the slot has another group."""
        id = self._ids[n]
        stored = self._stored.get(id, {})
        if stored.get(slot) == group:
            return
        slots = {name: of_slot for name, of_slot in stored.items() if name != slot}
        if group is not None:
            slots[slot] = group
        self._stored[id] = slots
        members = {name: encode_member(of_slot, id) for name, of_slot in slots.items()}
        yield self._entries[self._document[n]].sentences_index, id, members

    def list_unmarked(self) -> Iterator[tuple[str, str]]:
        """The documents without the fingerprint: their index and id."""
        return ((entry.documents_index, entry.id) for entry in self._entries if not entry.is_done)
