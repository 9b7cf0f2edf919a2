"""Finds and stores the copies of an alias: reads the terms of its documents, and updates its sentences.

Sentences are updated before their documents get the recipe's fingerprint. A killed run leaves some sentences
with new groups; the next run completes them, since it compares what is stored with what it has found.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from esr.elastic.cluster import Cluster
from esr.elastic.copies import GROUP, GROUP_FIELD, encode_member
from esr.elastic.documents import WITHOUT_CONTEXT, decode_document
from esr.elastic.requests import hits_of, search_pages
from esr.enrichment.copy_finder import NO_GROUP, UNKNOWN, SentenceTerms
from esr.enrichment.copy_wording import Integers
from esr.enrichment.recipe import Recipe
from esr.text.analyzer import Analyzer
from esr.text.dates import parse_date_start
from esr.text.sentence_enrichment import REUSE

_PAGE = 500
_NO_DATE = np.iinfo(np.int64).max


class _Entry(NamedTuple):
    """A document: its index of documents, its id, whether it has the recipe's fingerprint."""

    documents_index: str
    id: str
    is_done: bool


class StoredCopies:
    """The sentences of an alias as one run reads them, and the updates that new groups need."""

    def __init__(self, cluster: Cluster, analyzer: Analyzer, recipe: Recipe) -> None:
        self._cluster, self._analyzer = cluster, analyzer
        (self._mark,) = recipe.fingerprints.values()
        self._entries: list[_Entry] = []
        self._ids: list[str] = []
        self._document = array("q")
        self._date = array("q")
        self._groups: dict[str, str] = {}
        """The stored group of each sentence that is in one."""

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
            self._entries.append(_Entry(hit["_index"], hit["_id"], self._mark in fields.get("enriched", ())))
            date = document.date
            self._date.append(_NO_DATE if date is None else parse_date_start(date))
            source.append(sources.setdefault(document.source, len(sources)))
        grouped = self._read_hits(self._cluster.alias, {"exists": {"field": GROUP_FIELD}}, [GROUP_FIELD])
        self._groups = {hit["_id"]: hit["_source"][REUSE][GROUP] for hit in grouped}
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
        for n, (id, document) in enumerate(zip(self._ids, self._document, strict=True)):
            if self._entries[document].is_done:
                group = self._groups.get(id)
                groups[n] = NO_GROUP if group is None else known.setdefault(group, len(known) + 1)
        return groups

    def list_changes(self, groups: Integers) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """The sentences whose stored group differs: the index of their document, their id, the new fields."""
        members = np.flatnonzero(groups)
        dates = np.array(self._date, np.int64)[np.array(self._document, np.int64)[members]]
        order = members[np.lexsort((members, dates, groups[members]))].tolist()
        wanted: dict[str, str] = {}
        for _, of_group in groupby(order, key=lambda n: int(groups[n])):
            rows = list(of_group)
            if len({self._document[n] for n in rows}) > 1:
                wanted |= {self._ids[n]: self._ids[rows[0]] for n in rows}
        for id, document in zip(self._ids, self._document, strict=True):
            group = wanted.get(id)
            if group != self._groups.get(id):
                fields = {} if group is None else {REUSE: encode_member(group, id)}
                yield self._entries[document].documents_index, id, fields

    def list_unmarked(self) -> Iterator[tuple[str, str]]:
        """The documents without the fingerprint: their index and id."""
        return ((entry.documents_index, entry.id) for entry in self._entries if not entry.is_done)
