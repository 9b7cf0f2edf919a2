"""The documents of unpacked files, each once, and which file each stands in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from esr import loaders
from esr.documents import Document, Sentence
from esr.errors import InputError


@dataclass
class Corpus:
    """Documents by id, the documents of each file, and what was odd.

    A document that several topics share stands in several files. Its sentences are joined by their ids;
    `conflicts` are sentences that have another text the second time (the first is kept).
    """

    documents: dict[str, Document] = field(default_factory=dict)
    files: dict[Path, tuple[str, ...]] = field(default_factory=dict)
    repeated: int = 0
    conflicts: list[str] = field(default_factory=list)


def read(folder: Path, files: Sequence[Path]) -> Corpus:
    """Raises InputError for a file that is broken, and if there is no document in any."""
    corpus = Corpus()
    for file in files:
        path = folder / file
        if not path.stat().st_size:
            continue
        found: dict[str, None] = {}
        for _, document in loaders.read_documents([str(path)], "trec"):
            found[document.id] = None
            before = corpus.documents.get(document.id)
            if before is not None:
                corpus.repeated += 1
                document = _joined(before, document, corpus.conflicts)
            corpus.documents[document.id] = document
        corpus.files[file] = tuple(found)
    if not corpus.documents:
        raise InputError(str(folder), 'there is no sentence like <s docid="..." num="..."> in the archive')
    return corpus


def _joined(first: Document, second: Document, conflicts: list[str]) -> Document:
    sentences: dict[str, Sentence] = {sentence.id: sentence for sentence in first.sentences}
    for sentence in second.sentences:
        kept = sentences.setdefault(sentence.id, sentence)
        if kept.text != sentence.text:
            conflicts.append(sentence.id)
    if len(sentences) == len(first.sentences):
        return first
    return Document(first.id, tuple(sentences.values()), first.title, first.date)
