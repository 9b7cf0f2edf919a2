"""Loads one year of the track: topics, judgements, documents, and inconsistencies between them."""

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
from esr.evaluation.reproduce.raw import RawFiles
from esr.evaluation.topic import Topic
from esr.evaluation.tuning import tasks
from esr.evaluation.tuning.tuner import Task

ANALYZER = "english"
"""Stop words removed, no stemming (docs/formulas.md, A.14)."""


@dataclass(frozen=True)
class Findings:
    """Inconsistencies in a year's files, as ids of sentences and documents. None of them is an error."""

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
    """`tasks` are the topics with a relevant sentence; `qrels` has only these topics.

    `new` has the new sentences of each topic by the judgements of the second task, None without them.
    `allowed` has the documents of each topic, `lengths` the number of terms of each sentence.
    """

    name: str
    tasks: list[Task]
    qrels: Qrels
    documents: list[Document]
    allowed: Mapping[str, tuple[str, ...]]
    lengths: Mapping[str, int]
    findings: Findings
    new: Mapping[str, frozenset[str]] | None = None

    def sentences(self, topic: str) -> list[str]:
        """The ids of the sentences of a topic's documents, in their order."""
        by_id = {document.id: document for document in self.documents}
        return [s.id for id in self.allowed[topic] for s in by_id[id].sentences]


def load(files: RawFiles, work: Path) -> Year:
    """Unpack and read a year. Raises InputError where a file is broken."""
    folder = work / files.year / "documents"
    archive = corpus.read(folder, unpack.unpack(files.archive, folder))
    documents = archive.documents
    topics = topic_files.read(files.topics)
    qrels = judgements.read(files.qrels)
    named = {topic.id: _find_documents(topic, archive) for topic in topics}
    allowed = {topic: tuple(id for id in ids if id in documents) for topic, ids in named.items()}
    if not any(allowed.values()):
        problem = "names no document of the archive, and no file of the archive has the name of a topic"
        raise InputError(str(files.topics), problem)
    task_set = tasks.build_tasks(topics, qrels, restrictions={t: ids or ("",) for t, ids in allowed.items()})
    judged = {task.topic: dict.fromkeys(task.relevant, 1) for task in task_set.ready}
    terms = analysis.get(ANALYZER).terms
    lengths = {s.id: len(terms(s.text)) for d in documents.values() for s in d.sentences}
    document_of = {s.id: d.id for d in documents.values() for s in d.sentences}
    pairs = [(topic, sentence) for topic, grades in judged.items() for sentence in grades]
    findings = Findings(
        unknown_sentences=_remove_duplicates(s for _, s in pairs if s not in document_of),
        outside_of_topic=_remove_duplicates(
            f"{t} {s}" for t, s in pairs if s in document_of and document_of[s] not in allowed[t]
        ),
        missing_documents=_remove_duplicates(
            id for ids in named.values() for id in ids if id not in documents
        ),
        conflicting_sentences=_remove_duplicates(archive.conflicts),
        unjudged_topics=task_set.unjudged,
        judged_without_topic=[topic for topic in qrels if topic not in named],
        without_documents=[topic for topic, ids in allowed.items() if not ids],
        repeated_documents=archive.repeated,
    )
    new = None
    if files.new is not None:
        new = {
            topic: frozenset(sentence for sentence, grade in grades.items() if grade > 0)
            for topic, grades in judgements.read(files.new).items()
        }
    return Year(files.year, task_set.ready, judged, list(documents.values()), allowed, lengths, findings, new)


def _find_documents(topic: Topic, archive: Corpus) -> tuple[str, ...]:
    """The documents that the topic names, or else those of the file or folder with the topic's name.

    Files are named `N1.docs_text`, and in 2004 `51.doc_text` for topic N51.
    """
    if topic.documents:
        return topic.documents
    for name in (topic.id, topic.id[1:]):
        ids = [id for file, ids in archive.files.items() if name in _topic_names(file) for id in ids]
        if ids:
            return tuple(dict.fromkeys(ids))
    return ()


def _topic_names(file: Path) -> list[str]:
    return [part.split(".")[0] for part in file.parts]


def _remove_duplicates(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))
