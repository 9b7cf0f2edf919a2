"""A year of the novelty track: its documents, topics and judgements, and their statistics.

Inconsistencies between them are findings, not errors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from esr.lab.judgements import Qrels, read_qrels
from esr.lab.reproduce.annotations import Annotations, annotate, find_named_titles
from esr.lab.reproduce.raw_files import RawFiles, unpack
from esr.lab.tuner import Task, build_tasks
from esr.plugin import Document, InputError, Sentence
from esr.plugin.provisional import Topic, get_analyzer, read_documents, read_topics

# Documents


@dataclass
class Corpus:
    """Documents by id, the document ids of each file, and inconsistencies.

    A document of several topics is in several files; its sentences are merged by their ids. `repeated` counts
    these repetitions. `conflicts` has the sentences with different texts, of which the first is used.
    """

    documents: dict[str, Document] = field(default_factory=dict)
    files: dict[Path, tuple[str, ...]] = field(default_factory=dict)
    repeated: int = 0
    conflicts: list[str] = field(default_factory=list)


def read_corpus(folder: Path, files: Sequence[Path]) -> Corpus:
    """Read the documents of the files. Raises InputError for a broken file, or without any document."""
    corpus = Corpus()
    for file in files:
        path = folder / file
        if not path.stat().st_size:
            continue
        ids: dict[str, None] = {}
        for _, document in read_documents([str(path)], "trec"):
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


# A year


ANALYZER = "english"
"""Removes stop words and does not stem (docs/formulas.md, A.14)."""


@dataclass(frozen=True)
class Findings:
    """Inconsistencies in a year's files, as ids of sentences, topics and documents.

    None of them is an error.
    """

    unknown_sentences: list[str]
    outside_of_topic: list[str]
    missing_documents: list[str]
    conflicting_sentences: list[str]
    unjudged_topics: list[str]
    judged_without_topic: list[str]
    without_documents: list[str]
    repeated_documents: int
    without_opinions: list[str] = field(default_factory=list)
    without_names: list[str] = field(default_factory=list)
    without_parses: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Year:
    """One year of the track. `tasks` are the topics with a relevant sentence; `qrels` has only these topics.

    `allowed` has the documents of each topic, `lengths` the number of terms of each sentence. `new` has the
    new sentences of each topic by the judgements of the second task, or is None without them. `kinds` has the
    kind of each topic, `named_titles` whether its title has a name; both may lack topics.
    """

    name: str
    tasks: list[Task]
    qrels: Qrels
    documents: list[Document]
    allowed: Mapping[str, tuple[str, ...]]
    lengths: Mapping[str, int]
    findings: Findings
    new: Mapping[str, frozenset[str]] | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    named_titles: Mapping[str, bool] = field(default_factory=dict)

    def sentences(self, topic: str) -> list[str]:
        """The ids of the sentences of a topic's documents, in their order."""
        by_id = {document.id: document for document in self.documents}
        return [s.id for id in self.allowed[topic] for s in by_id[id].sentences]


def load(files: RawFiles, work: Path, annotations: Annotations | None = None) -> Year:
    """Unpack and read a year, with the annotations of its documents. Raises InputError for a broken file."""
    annotations = annotations or Annotations()
    folder = work / files.year / "documents"
    archive = read_corpus(folder, unpack(files.archive, folder))
    documents = {id: annotate(document, annotations) for id, document in archive.documents.items()}
    topics = read_topics(files.topics)
    qrels = read_qrels(files.qrels)
    named = {topic.id: _find_documents(topic, archive) for topic in topics}
    allowed = {topic: tuple(id for id in ids if id in documents) for topic, ids in named.items()}
    if not any(allowed.values()):
        problem = "names no document of the archive, and no file of the archive has the name of a topic"
        raise InputError(str(files.topics), problem)
    task_set = build_tasks(topics, qrels, restrict={t: ids or ("",) for t, ids in allowed.items()})
    judged = {task.topic: dict.fromkeys(task.relevant, 1) for task in task_set.ready}
    terms = get_analyzer(ANALYZER).terms
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
        **{
            f"without_{tool}": [id for id in documents if id not in annotated]
            for tool, annotated in vars(annotations).items()
            if any(id in annotated for id in documents)
        },
    )
    new = None
    if files.new is not None:
        new = {
            topic: frozenset(sentence for sentence, grade in grades.items() if grade > 0)
            for topic, grades in read_qrels(files.new).items()
        }
    return Year(
        files.year,
        task_set.ready,
        judged,
        list(documents.values()),
        allowed,
        lengths,
        findings,
        new,
        {topic.id: topic.kind for topic in topics if topic.kind},
        find_named_titles(topics, annotations),
    )


def _find_documents(topic: Topic, archive: Corpus) -> tuple[str, ...]:
    """The documents that the topic names, or else those of the file or folder with the topic's name.

    Files are named `N1.docs_text`, and in 2004 `51.doc_text` for topic N51.
    """
    if topic.documents:
        return topic.documents
    for name in (topic.id, topic.id[1:]):
        files = [file for file in archive.files if name in [part.split(".")[0] for part in file.parts]]
        ids = [id for file in files for id in archive.files[file]]
        if ids:
            return tuple(dict.fromkeys(ids))
    return ()


def _remove_duplicates(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


@dataclass(frozen=True)
class YearStatistics:
    """Statistics of a year's data.

    Shares of relevant sentences are among the sentences of the topic's own documents: micro pools all topics,
    macro is the mean over topics. `sentence_length` is over the distinct sentences of the year,
    `relevant_length` over the relevant sentences of every topic. Lengths are in terms, without stop words.
    `without_relevant` counts the documents of topics that have no sentence relevant to the topic, among
    `topic_documents`. `once` is the share of sentences' terms that occur once in the sentence, `above` of
    those with p(t|d) > p(t), `far_above` of those with p(t|d) > 10 p(t). `kinds` counts topics by kind, and
    `named_titles` those with a name in the title, or is None if this is unknown for any.
    """

    topics: int
    documents: int
    sentences: int
    ranked: int
    relevant: int
    relevant_micro: float
    relevant_macro: float
    sentence_length: float
    relevant_length: float
    without_relevant: int
    topic_documents: int
    once: float
    above: float
    far_above: float
    kinds: Mapping[str, int]
    named_titles: int | None


def measure_year(year: Year) -> YearStatistics:
    """Compute the statistics of a year. Judged sentences that are not in the archive are left out."""
    ranked, relevant, shares, lengths, without, pairs = 0, 0, [], [], 0, 0
    document_of = {s.id: d.id for d in year.documents for s in d.sentences}
    for task in year.tasks:
        sentences = set(year.sentences(task.topic))
        known_relevant = [sentence for sentence in task.relevant if sentence in sentences]
        ranked, relevant = ranked + len(sentences), relevant + len(known_relevant)
        lengths += [year.lengths[sentence] for sentence in known_relevant]
        if sentences:
            shares.append(len(known_relevant) / len(sentences))
        with_relevant = {document_of[sentence] for sentence in known_relevant}
        pairs += len(year.allowed[task.topic])
        without += len(set(year.allowed[task.topic]) - with_relevant)
    once, above, far_above = _measure_terms(year)
    return YearStatistics(
        topics=len(year.tasks),
        documents=len(year.documents),
        sentences=len(year.lengths),
        ranked=ranked,
        relevant=relevant,
        relevant_micro=relevant / max(ranked, 1),
        relevant_macro=sum(shares) / max(len(shares), 1),
        sentence_length=sum(year.lengths.values()) / max(len(year.lengths), 1),
        relevant_length=sum(lengths) / max(len(lengths), 1),
        without_relevant=without,
        topic_documents=pairs,
        once=once,
        above=above,
        far_above=far_above,
        kinds=dict(Counter(kind for topic in year.qrels if (kind := year.kinds.get(topic)))),
        named_titles=None
        if not year.qrels.keys() <= year.named_titles.keys()
        else sum(year.named_titles[topic] for topic in year.qrels),
    )


def _measure_terms(year: Year) -> tuple[float, float, float]:
    """Shares of the terms of sentences: that occur once, with p(t|d) > p(t), and with p(t|d) > 10 p(t)."""
    terms_of = get_analyzer(ANALYZER).terms
    in_sentences = [[Counter(terms_of(s.text)) for s in d.sentences] for d in year.documents]
    in_documents: list[Counter[str]] = [Counter() for _ in in_sentences]
    in_all: Counter[str] = Counter()
    for sentences, document in zip(in_sentences, in_documents, strict=True):
        for sentence in sentences:
            document.update(sentence)
        in_all.update(document)
    occurrences, number, once, above, far_above = in_all.total(), 0, 0, 0, 0
    for sentences, document in zip(in_sentences, in_documents, strict=True):
        size = document.total()
        # p(t|d) / p(t), for each term of the document
        ratios = {term: count * occurrences / (size * in_all[term]) for term, count in document.items()}
        for sentence in sentences:
            number += len(sentence)
            once += sum(count == 1 for count in sentence.values())
            above += sum(ratios[term] > 1 for term in sentence)
            far_above += sum(ratios[term] > 10 for term in sentence)
    number = max(number, 1)
    return once / number, above / number, far_above / number
