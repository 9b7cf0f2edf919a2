"""Refuses ids that are taken: one document an id, one sentence an id, over the whole index."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from esr.documents.document import default_sentence_id
from esr.engines.segments.store.segment import Segment, is_position
from esr.engines.segments.store.string_table import hashes
from esr.engines.segments.writer.prefetch import Coming
from esr.errors import InputError


class Taken:
    """Ids in the open segment (in memory) and in the closed ones (on disk)."""

    def __init__(self) -> None:
        self._documents: dict[str, tuple[str, int]] = {}
        self._given: set[str] = set()
        self._without_default: set[str] = set()
        self._any_given = False

    def add(self, coming: Coming, closed: Sequence[Segment]) -> None:
        """Take a document's ids. Raises InputError at the second use of one, and takes none then."""
        where, document = coming.where, coming.document
        self._check_document(where, document.id, closed)
        any_given = self._any_given or any(segment.has_given_ids for segment in closed)
        # Default ids can only meet a given one, which is rare: most loads have none at all.
        if coming.own or any_given:
            self._add_sentences(coming, closed, any_given)
        self._documents[document.id] = where, len(document.sentences)

    def _add_sentences(self, coming: Coming, closed: Sequence[Segment], any_given: bool) -> None:
        """Take the ids of a document's sentences, where one of them, or any before, is not the default."""
        where, document = coming.where, coming.document
        defaults = [default_sentence_id(document.id, n) for n in range(len(document.sentences))]
        unsafe = self._unsafe(defaults, closed) if any_given else set()
        if not coming.own and not unsafe:
            return
        mine: set[str] = set()
        given: list[str] = []
        without_default: list[str] = []
        for sentence, usual in zip(document.sentences, defaults, strict=True):
            default = sentence.id == usual
            if (not default or usual in unsafe) and self._is_taken(sentence.id, document.id, closed):
                raise InputError(
                    where, f"sentence id {sentence.id!r} is taken: give every sentence its own id"
                )
            if sentence.id in mine:
                raise InputError(
                    where, f"sentence id {sentence.id!r} stands twice in document {document.id!r}"
                )
            mine.add(sentence.id)
            if not default:
                given.append(sentence.id)
                without_default.append(usual)
        self._any_given = self._any_given or bool(given)
        self._given.update(given)
        self._without_default.update(without_default)

    def _unsafe(self, defaults: Sequence[str], closed: Sequence[Segment]) -> set[str]:
        """The default ids that may have been given to other sentences."""
        unsafe = self._given.intersection(defaults)
        with_given = [segment for segment in closed if segment.has_given_ids]
        if with_given:
            codes = hashes(defaults)
            for segment in with_given:
                unsafe.update(defaults[n] for n in np.flatnonzero(segment.given.shared(codes)).tolist())
        return unsafe

    def closed(self) -> None:
        """The open segment was written: its ids are on disk now."""
        self._documents.clear()
        self._given.clear()
        self._without_default.clear()

    def _check_document(self, where: str, document_id: str, closed: Sequence[Segment]) -> None:
        if document_id in self._documents:
            first = self._documents[document_id][0]
            raise InputError(where, f"document id {document_id!r} stands twice: first at {first}")
        if any(segment.documents.find(document_id) is not None for segment in closed):
            raise InputError(where, f"document id {document_id!r} stands twice in this load")

    def _is_taken(self, sentence_id: str, own: str, closed: Sequence[Segment]) -> bool:
        if sentence_id in self._given:
            return True
        document_id, _, position = sentence_id.rpartition(".s")
        if document_id != own and document_id in self._documents and is_position(position):
            there = int(position) < self._documents[document_id][1]
            return there and sentence_id not in self._without_default
        return any(segment.find_sentence(sentence_id) is not None for segment in closed)
