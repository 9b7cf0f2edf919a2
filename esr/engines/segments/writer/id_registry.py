"""Refuses duplicate ids of documents and of sentences, over the whole index."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from esr.documents.document import default_sentence_id
from esr.engines.segments.store.segment import Segment, is_position
from esr.engines.segments.store.string_table import hash_strings
from esr.engines.segments.writer.prepared_document import PreparedDocument
from esr.engines.writer import sentence_id_conflict
from esr.errors import InputError


class IdRegistry:
    """The ids of the segment that is being built, in memory. Those of written segments are read from disk."""

    def __init__(self) -> None:
        self._documents: dict[str, tuple[str, int]] = {}
        """By document id: where the document was read, and how many sentences it has."""
        self._explicit_ids: set[str] = set()
        self._unused_defaults: set[str] = set()
        """The default ids of sentences that have an explicit one."""
        self._has_explicit_ids = False

    def register(self, prepared: PreparedDocument, written: Sequence[Segment]) -> None:
        """Register the ids of a document. Raises InputError for a duplicate, and registers none then.

        `written` are the segments on disk whose ids must not be used again.
        """
        where, document = prepared.where, prepared.document
        self._check_document(where, document.id, written)
        has_explicit_ids = self._has_explicit_ids or any(segment.has_explicit_ids for segment in written)
        # Default ids can only clash with explicit ones, which are rare: most loads have none at all.
        if prepared.explicit_ids or has_explicit_ids:
            self._register_sentences(prepared, written, has_explicit_ids)
        self._documents[document.id] = where, len(document.sentences)

    def segment_written(self) -> None:
        """Forget the ids of the segment that was being built: they are on disk now."""
        self._documents.clear()
        self._explicit_ids.clear()
        self._unused_defaults.clear()

    def _register_sentences(
        self, prepared: PreparedDocument, written: Sequence[Segment], has_explicit_ids: bool
    ) -> None:
        """Register the ids of sentences, where these or others have explicit ids."""
        where, document = prepared.where, prepared.document
        defaults = [default_sentence_id(document.id, n) for n in range(len(document.sentences))]
        doubtful = self._doubtful(defaults, written) if has_explicit_ids else set()
        if not prepared.explicit_ids and not doubtful:
            return
        ids: set[str] = set()
        explicit_ids: list[str] = []
        unused_defaults: list[str] = []
        for sentence, default in zip(document.sentences, defaults, strict=True):
            is_default = sentence.id == default
            needs_check = not is_default or default in doubtful
            if needs_check and self._is_used(sentence.id, document.id, written):
                raise sentence_id_conflict(where, sentence.id)
            if sentence.id in ids:
                raise sentence_id_conflict(where, sentence.id, document.id)
            ids.add(sentence.id)
            if not is_default:
                explicit_ids.append(sentence.id)
                unused_defaults.append(default)
        self._has_explicit_ids = self._has_explicit_ids or bool(explicit_ids)
        self._explicit_ids.update(explicit_ids)
        self._unused_defaults.update(unused_defaults)

    def _doubtful(self, defaults: Sequence[str], written: Sequence[Segment]) -> set[str]:
        """The default ids that other sentences may have as explicit ids."""
        doubtful = self._explicit_ids.intersection(defaults)
        segments = [segment for segment in written if segment.has_explicit_ids]
        if segments:
            hashes = hash_strings(defaults)
            for segment in segments:
                present = np.flatnonzero(segment.explicit_ids.contains_hashes(hashes))
                doubtful.update(defaults[n] for n in present.tolist())
        return doubtful

    def _check_document(self, where: str, document_id: str, written: Sequence[Segment]) -> None:
        if document_id in self._documents:
            first = self._documents[document_id][0]
            raise InputError(where, f"document id {document_id!r} is duplicated: first used at {first}")
        if any(segment.document_ids.find(document_id) is not None for segment in written):
            raise InputError(where, f"document id {document_id!r} is duplicated in this load")

    def _is_used(self, sentence_id: str, own_document: str, written: Sequence[Segment]) -> bool:
        if sentence_id in self._explicit_ids:
            return True
        document_id, _, position = sentence_id.rpartition(".s")
        if document_id != own_document and document_id in self._documents and is_position(position):
            exists = int(position) < self._documents[document_id][1]
            if exists and sentence_id not in self._unused_defaults:
                return True
        return any(segment.find_sentence(sentence_id) is not None for segment in written)
