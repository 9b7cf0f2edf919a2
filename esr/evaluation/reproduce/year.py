"""One year of the track, loaded: topics, judgements, documents, and all that does not fit together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from esr import analysis
from esr.documents import Document
from esr.errors import InputError
from esr.evaluation import qrels as judgements
from esr.evaluation import topics as topic_files
from esr.evaluation.qrels import Qrels
from esr.evaluation.reproduce import corpus, unpack
from esr.evaluation.reproduce.corpus import Corpus
from esr.evaluation.reproduce.raw import Raw
from esr.evaluation.topic import Topic
from esr.evaluation.tuning import tasks
from esr.evaluation.tuning.figures import Task

ANALYZER = "english"
"""Stop words removed, no stemming (docs/formulas.md, A.14)."""


@dataclass(frozen=True)
class Findings:
    """What is odd in a year's files. Sentences and documents are named; nothing stops the work."""

    unknown_sentences: list[str]
    outside_of_topic: list[str]
    missing_documents: list[str]
    conflicting_sentences: list[str]
    unjudged_topics: list[str]
    judged_without_topic: list[str]
    without_documents: list[str]
    repeated_documents: int


@dataclass(frozen=True)
class Year:
    """`tasks` are the topics with a relevant sentence; `qrels` holds these alone.

    `allowed` are the documents of each of the topics, `lengths` the terms of each sentence.
    """

    name: str
    tasks: list[Task]
    qrels: Qrels
    documents: list[Document]
    allowed: Mapping[str, tuple[str, ...]]
    lengths: Mapping[str, int]
    findings: Findings

    def sentences(self, topic: str) -> list[str]:
        """The ids of the sentences of a topic's documents."""
        by_id = {document.id: document for document in self.documents}
        return [s.id for id in self.allowed[topic] for s in by_id[id].sentences]


def load(raw: Raw, work: Path) -> Year:
    """Unpack and read a year. Raises InputError where a file is broken."""
    folder = work / raw.year / "documents"
    found = corpus.read(folder, unpack.unpack(raw.archive, folder))
    topics = topic_files.read(raw.topics)
    qrels = judgements.read(raw.qrels)
    named = {topic.id: _documents(topic, found) for topic in topics}
    allowed = {topic: tuple(id for id in ids if id in found.documents) for topic, ids in named.items()}
    if not any(allowed.values()):
        what = "names no document that the archive holds, and no file of it is called by a topic"
        raise InputError(str(raw.topics), what)
    made = tasks.make(topics, qrels, restrictions={t: ids or ("",) for t, ids in allowed.items()})
    judged = {task.topic: dict.fromkeys(task.relevant, 1) for task in made.ready}
    terms = analysis.get(ANALYZER).terms
    lengths = {s.id: len(terms(s.text)) for d in found.documents.values() for s in d.sentences}
    owner = {s.id: d.id for d in found.documents.values() for s in d.sentences}
    pairs = [(topic, sentence) for topic, grades in judged.items() for sentence in grades]
    findings = Findings(
        unknown_sentences=_once(s for _, s in pairs if s not in owner),
        outside_of_topic=_once(f"{t} {s}" for t, s in pairs if s in owner and owner[s] not in allowed[t]),
        missing_documents=_once(id for ids in named.values() for id in ids if id not in found.documents),
        conflicting_sentences=_once(found.conflicts),
        unjudged_topics=made.unjudged,
        judged_without_topic=[topic for topic in qrels if topic not in named],
        without_documents=[topic for topic, ids in allowed.items() if not ids],
        repeated_documents=found.repeated,
    )
    return Year(raw.year, made.ready, judged, list(found.documents.values()), allowed, lengths, findings)


def _documents(topic: Topic, found: Corpus) -> tuple[str, ...]:
    """Those that the topic names, or else those of the file or folder that is called by the topic.

    Files are called `N1.docs_text`, those of 2004 `51.doc_text` for topic N51.
    """
    if topic.documents:
        return topic.documents
    for name in (topic.id, topic.id[1:]):
        ids = [id for file, ids in found.files.items() if name in _names(file) for id in ids]
        if ids:
            return tuple(dict.fromkeys(ids))
    return ()


def _names(file: Path) -> list[str]:
    return [part.split(".")[0] for part in file.parts]


def _once(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
