"""Hits as the API writes them, with the fields that a request asks for.

Copies, matches, metadata, links and windows are added only on request. Metadata, and windows of more than one
sentence, read the documents of the hits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from flask import url_for

from esr.following.alerts.atom import text_digest
from esr.following.copies import CopyNote, find_copies, write_copies
from esr.index.contract import Index, find_documents
from esr.index.hits import Hit, SentenceRecord
from esr.ranking.answers import PASSAGE_FIELDS, Passage, hit_dict, passage_fields, require_record
from esr.text.attributes import META_PREFIX
from esr.text.document import Document
from esr.text.term_spans import find_spans
from webui.arguments.links import path_to
from webui.arguments.request import (
    HitShape,
)

HitData = dict[str, Any]
_COUNTED = ("text", "previous", "next")
"""The fields whose characters count towards a budget, in addition to windows."""


def sentence_link(record: SentenceRecord, is_external: bool = False, index: str | None = None) -> str:
    """The address of a sentence by its document and a digest of its text, since a load may renumber it."""
    values = {"id": record.document_id, "says": text_digest(record.text), "index": index}
    query = urlencode({name: value for name, value in values.items() if value}, errors="replace")
    path = url_for("sentence", _external=True) if is_external else path_to("sentence")
    return f"{path}?{query}"


class HitWriter:
    """Writes the hits of an answer. `terms` are the terms to mark, `index_name` is that of links."""

    def __init__(self, index: Index, shape: HitShape, terms: Collection[str], index_name: str = "") -> None:
        self._index = index
        self._shape = shape
        self._terms = terms
        self._index_name = index_name
        self._documents: Mapping[str, Document] = {}
        self._copies: Mapping[str, CopyNote] = {}

    def write_entries(
        self, entries: Iterable[Sequence[Passage]], is_list: bool = True
    ) -> list[list[HitData]]:
        """The hits of each entry, for as many entries as the budget allows, at least one.

        `is_list`: whether hits have the fields of `Passage`, if these are chosen.
        """
        entries = list(entries)
        if self._shape.reads_documents:
            hits = (hit for entry in entries for item in entry for hit in (*item.sentences, *item.similar))
            self._documents = find_documents(self._index, {require_record(hit).document_id for hit in hits})
        if "copies" in self._shape.fields:
            passages = [passage for entry in entries for passage in entry]
            shown = (
                hit for passage in passages for hit in (passage.best, *passage.sentences, *passage.similar)
            )
            self._copies = find_copies(self._index, shown)
        left = self._shape.budget
        written: list[list[HitData]] = []
        windows = []
        for entry in entries:
            data = [self._write(passage, is_list) for passage in entry]
            size = sum(map(_size, data))
            if left is not None and written and size > left:
                break
            left = None if left is None else left - size
            written.append(data)
            windows += [(hit, require_record(item.best)) for hit, item in zip(data, entry, strict=True)]
        if self._shape.window:
            self._add_windows(windows, left)
        return written

    def _write(self, passage: Passage, is_list: bool) -> HitData:
        data = self._write_hit(passage.best)
        chosen = self._shape.fields or frozenset(PASSAGE_FIELDS)
        if is_list and not chosen.isdisjoint(PASSAGE_FIELDS):
            added = passage_fields(passage, self._write_hit)
            data |= {name: added[name] for name in PASSAGE_FIELDS if name in chosen}
        return data

    def _write_hit(self, hit: Hit) -> HitData:
        data, record, fields = hit_dict(hit), require_record(hit), self._shape.fields
        if not fields:
            return data
        data = {name: value for name, value in data.items() if name in fields or name == "sentence_id"}
        if "matches" in fields:
            tokens = self._index.analyzer.tokens(record.text)
            spans = find_spans(record.text, tokens, self._terms)
            data["matches"] = [{"start": span.start, "end": span.end} for span in spans]
        if "copies" in fields:
            data["copies"] = write_copies(self._copies, hit.sentence_id)
        if "permalink" in fields:
            data["permalink"] = sentence_link(record, True, self._index_name)
        keys = [name.removeprefix(META_PREFIX) for name in fields if name.startswith(META_PREFIX)]
        if "metadata" in fields:
            data["metadata"] = self._document(record).metadata
        elif keys:
            values = ((key, _value_at(self._document(record).metadata, key)) for key in keys)
            data["metadata"] = {key: value for key, value in values if value is not None}
        return data

    def _add_windows(self, hits: Sequence[tuple[HitData, SentenceRecord]], left: int | None) -> None:
        """Add windows to all hits as far as the budget allows, the nearest sentences first."""
        sides = [side for _, record in hits for side in self._sides(record)]
        windows: list[list[str]] = [[] for _ in sides]
        for distance in range(self._shape.window):
            for side, window in zip(sides, windows, strict=True):
                if len(window) != distance or distance >= len(side):
                    continue  # the budget or the document has ended
                if left is None or len(side[distance]) <= left:
                    window.append(side[distance])
                    left = None if left is None else left - len(side[distance])
        for n, (data, _) in enumerate(hits):
            data["window"] = {"before": windows[2 * n][::-1], "after": windows[2 * n + 1]}

    def _sides(self, record: SentenceRecord) -> tuple[list[str], list[str]]:
        """The texts of the sentences before and after one, nearest first."""
        n, place = self._shape.window, record.position
        texts = [sentence.text for sentence in self._document(record).sentences] if n > 1 else []
        if texts[place : place + 1] != [record.text]:  # no document was read, or a later one
            return [record.previous] if record.previous else [], [record.next] if record.next else []
        return texts[max(0, place - n) : place][::-1], texts[place + 1 : place + 1 + n]

    def _document(self, record: SentenceRecord) -> Document:
        """The document of a sentence; an empty one if it has been removed since the search."""
        return self._documents.get(record.document_id) or Document(record.document_id, ())


def _size(data: HitData) -> int:
    """The characters of a hit that count towards a budget."""
    size = sum(len(data[name] or "") for name in _COUNTED if name in data)
    return size + sum(_size(hit) for name in ("passage", "folded") for hit in data.get(name, ()))


def _value_at(metadata: Mapping[str, Any], key: str) -> Any:
    """The value of a key, with `a.b` for a key of a nested object; None if there is none."""
    if key in metadata:
        return metadata[key]
    value: Any = metadata
    for part in key.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value
