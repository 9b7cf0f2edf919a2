"""Reads the distinct documents of unpacked files, and which files contain each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from esr import loaders
from esr.documents import Document, Sentence
from esr.errors import InputError


@dataclass
class Corpus:
    """Documents by id, the documents of each file, and inconsistencies.

    A document of several topics is in several files. Its sentences are merged by their ids. `conflicts` are
    sentences with different texts, of which the first is used.
    """

    documents: dict[str, Document] = field(default_factory=dict)
    files: dict[Path, tuple[str, ...]] = field(default_factory=dict)
    repeated: int = 0
    conflicts: list[str] = field(default_factory=list)


def read(folder: Path, files: Sequence[Path]) -> Corpus:
    """Read the documents. Raises InputError for a broken file, and if no file contains a document."""
    corpus = Corpus()
    for file in files:
        path = folder / file
        if not path.stat().st_size:
            continue
        ids: dict[str, None] = {}
        for _, document in loaders.read_documents([str(path)], "trec"):
            ids[document.id] = None
            earlier = corpus.documents.get(document.id)
            if earlier is not None:
                corpus.repeated += 1
                document = _merge(earlier, document, corpus.conflicts)
            corpus.documents[document.id] = document
        corpus.files[file] = tuple(ids)
    if not corpus.documents:
        raise InputError(
            str(folder),
            'the archive has no sentence like <s docid="..." num="...">: is it the right one?',
        )
    return corpus


def _merge(first: Document, second: Document, conflicts: list[str]) -> Document:
    sentences: dict[str, Sentence] = {sentence.id: sentence for sentence in first.sentences}
    for sentence in second.sentences:
        first_sentence = sentences.setdefault(sentence.id, sentence)
        if first_sentence.text != sentence.text:
            conflicts.append(sentence.id)
    if len(sentences) == len(first.sentences):
        return first
    return Document(first.id, tuple(sentences.values()), first.title, first.date)
