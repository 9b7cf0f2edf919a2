"""The raw files of the TREC Novelty track: find, unpack, load and describe them, one year at a time.

A year has topics, judgements and documents. Inconsistencies between them are findings, not errors. The folder
may also have the annotations of the papers' tools, and the AQUAINT collection.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import tarfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from esr.lab.measures import Qrels, read_qrels
from esr.lab.reproduce.annotations import Annotations, annotate, find_annotations, find_named_titles
from esr.lab.tuner import Task, build_tasks
from esr.plugin import Document, EsrError, InputError, Sentence
from esr.plugin.provisional import (
    Topic,
    find_overlaps,
    get_analyzer,
    group_repeats,
    rarity,
    read_documents,
    read_topics,
)

# Topics, documents and judgements of each year (docs/formulas.md, A.14).
NAMES: dict[str, tuple[str, str, str]] = {
    "2002": ("novelty_topics.txt", "novelty.tar.gz", "min_qrels.relevant"),
    "2003": ("03.novelty.topics.txt", "documents.tar.gz", "qrels.relevant.03.txt"),
    "2004": ("novelty04.topics.txt", "04docs.tar.gz", "04.qrels.relevant"),
}
NEW_NAMES: dict[str, tuple[str, ...]] = {
    "2002": ("min_qrels.new",),
    "2003": ("qrels.novel.03.txt", "qrels.new.03.txt"),
    "2004": ("04.qrels.novel", "04.qrels.new"),
}
"""File names of the judgements of the second task, any of which may exist. Without one, a year has only the
first task."""
YEARS = tuple(NAMES)
_KINDS = ("topics", "documents", "judgements")


@dataclass(frozen=True)
class RawFiles:
    """The files of one year. `new` has the judgements of the second task, or is None."""

    year: str
    topics: Path
    archive: Path
    qrels: Path
    new: Path | None = None


AQUAINT = ("apw", "nyt", "xie")
"""The folders of AQUAINT (LDC2002T31): one per agency, with one per year and a file for each day."""


class AvailableFiles(NamedTuple):
    """The years with files in a folder, the years without any, and the other files."""

    years: list[RawFiles]
    absent: list[str]
    annotations: Annotations
    aquaint: list[Path]


def find_raw_files(folder: Path) -> AvailableFiles:
    """Find the files by name, anywhere below the folder.

    Raises InputError for an incomplete year, for two files with the same name, and if there are no files at
    all.
    """
    if not folder.is_dir():
        raise InputError(str(folder), "there is no such folder")
    known_names = {name for table in (NAMES, NEW_NAMES) for names in table.values() for name in names}
    paths: dict[str, list[Path]] = {}
    all_paths = list(_walk(folder))
    for path in all_paths:
        if path.name in known_names:
            paths.setdefault(path.name, []).append(path)
    for name, same_name in paths.items():
        if len(same_name) > 1:
            raise InputError(
                str(folder), f"has two files named {name}: {same_name[0]} and {same_name[1]}; remove one"
            )
    aquaint: list[Path] = []
    others: list[Path] = []
    for path in all_paths:
        is_aquaint = any(part.lower() in AQUAINT for part in path.relative_to(folder).parts[:-2])
        (aquaint if is_aquaint else others).append(path)
    annotations = find_annotations(others)
    available = AvailableFiles([], [], annotations, aquaint)
    for year, names in NAMES.items():
        missing = [f"{name} ({kind})" for name, kind in zip(names, _KINDS, strict=True) if name not in paths]
        if len(missing) == len(names):
            available.absent.append(year)
        elif missing:
            raise InputError(str(folder), f"the files of {year} are incomplete: add {' and '.join(missing)}")
        else:
            topics, archive, qrels = names
            new = next((paths[name][0] for name in NEW_NAMES[year] if name in paths), None)
            available.years.append(RawFiles(year, paths[topics][0], paths[archive][0], paths[qrels][0], new))
    if not available.years:
        expected = "; ".join(f"{year}: {', '.join(names)}" for year, names in NAMES.items())
        raise InputError(str(folder), f"has none of the files of the TREC Novelty track ({expected})")
    return available


def _walk(folder: Path) -> Iterator[Path]:
    """All files below a folder; folders and their files are in alphabetical order."""
    for parent, folders, files in os.walk(folder):
        folders.sort()
        yield from (Path(parent, name) for name in sorted(files))


# Unpacking


MAX_BYTES = 4_000_000_000
"""Maximum unpacked size of an archive. The three years have some 30 MB together."""
_MARK = ".unpacked.json"


def unpack(archive: Path, folder: Path, max_bytes: int = MAX_BYTES) -> list[Path]:
    """Unpack a .tar.gz into `folder`, and return its files as paths relative to it, sorted.

    Files of an earlier call are reused unless the archive has changed. Texts that are not UTF-8 are read as
    Latin-1, the encoding of the newswire of those years, and written as UTF-8. Raises InputError for an
    archive that is broken or contains anything but plain files inside its folder.
    """
    status = archive.stat()
    mark = {"archive": str(archive.resolve()), "bytes": status.st_size, "time": status.st_mtime_ns}
    if _read_mark(folder) != mark:
        if folder.exists() and not (folder / _MARK).is_file():
            raise EsrError(f"{folder} exists, but esr did not create it: name another --work folder")
        new_folder = folder.with_name(f".{folder.name}.unpacking")
        try:
            _remove(new_folder)
            new_folder.mkdir(parents=True)
            _extract(archive, new_folder, max_bytes)
            (new_folder / _MARK).write_text(json.dumps(mark), "utf-8")
            _remove(folder)
            new_folder.rename(folder)
        except (tarfile.TarError, EOFError, zlib.error) as error:
            raise InputError(
                str(archive), f"cannot be unpacked ({error}): it may be truncated, so copy it again"
            ) from None
        except OSError as error:
            problem = f"cannot be unpacked into {folder}: {error.strerror or error}"
            raise InputError(str(archive), problem) from None
        finally:
            _remove(new_folder)
    # Some archivers add hidden files such as `._x`.
    files = [path for path in folder.rglob("[!.]*") if path.is_file()]
    return sorted(path.relative_to(folder) for path in files)


def _extract(archive: Path, folder: Path, max_bytes: int) -> None:
    remaining = max_bytes
    with tarfile.open(archive, "r:gz") as tar:
        for name, content in _iterate_files(archive, tar):
            data = content.read(remaining + 1)
            remaining -= len(data)
            if remaining < 0:
                raise InputError(
                    str(archive), f"contains more than {max_bytes:,} bytes: this is not the Novelty data"
                )
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_to_utf8(data))


def _iterate_files(archive: Path, tar: tarfile.TarFile) -> Iterator[tuple[PurePosixPath, IO[bytes]]]:
    for member in tar:
        name = PurePosixPath(member.name)
        if name.is_absolute() or ".." in name.parts or "\\" in member.name or "\0" in member.name:
            raise InputError(str(archive), f"rejected: {member.name!r} is a path outside of the folder")
        if member.isdir():
            continue
        content = tar.extractfile(member) if member.isfile() else None
        if content is None:
            raise InputError(str(archive), f"rejected: {member.name!r} is a link or a device, not a file")
        yield name, content


def _to_utf8(data: bytes) -> bytes:
    if data[:2] == b"\x1f\x8b":
        return data  # compressed itself: the reader decompresses it
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1").encode()
    return data


def _read_mark(folder: Path) -> object:
    try:
        return json.loads((folder / _MARK).read_text("utf-8"))
    except (OSError, ValueError):
        return None


def _remove(folder: Path) -> None:
    if folder.exists():
        shutil.rmtree(folder)


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


# The track's second task: given a topic's relevant sentences in their order, find those that are new.
# docs/formulas.md has the measure of overlap (G.1), and precision, recall and F (G.2).


THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
EVERYTHING = "everything"
"""The baseline that takes all sentences as new."""


class NewFigures(NamedTuple):
    """Precision, recall and F of one topic, or their means over topics."""

    precision: float
    recall: float
    f: float


@dataclass(frozen=True)
class SecondTask:
    """The figures of a year: `judged` relevant sentences are the input, of which `new` are judged new.

    `figures` has a value for each threshold, such as 0.8, and for EVERYTHING. `not_relevant` lists the
    sentences that are judged new but not relevant; these are not in the input.
    """

    topics: int
    judged: int
    new: int
    not_relevant: list[str]
    figures: Mapping[str, NewFigures]


def measure_second_task(year: Year) -> SecondTask | None:
    """The figures of a year, or None without judgements.

    Terms are weighted by their rarity in its documents.
    """
    if year.new is None:
        return None
    terms_of = get_analyzer(ANALYZER).terms
    terms = {s.id: frozenset(terms_of(s.text)) for d in year.documents for s in d.sentences}
    sf = Counter(term for of_sentence in terms.values() for term in of_sentence)
    weights = {term: rarity(len(terms), count) for term, count in sf.items()}
    given = {
        topic: [sentence for sentence in dict.fromkeys(year.sentences(topic)) if sentence in grades]
        for topic, grades in year.qrels.items()
    }
    overlaps = {
        topic: find_overlaps([terms[sentence] for sentence in sentences], lambda needed: weights)
        for topic, sentences in given.items()
    }
    new = {topic: year.new.get(topic, frozenset()) for topic in given}
    figures = {EVERYTHING: average(judge(set(given[topic]), new[topic]) for topic in given)}
    for threshold in THRESHOLDS:
        found = {
            topic: {sentences[group[0]] for group in group_repeats(overlaps[topic], threshold)}
            for topic, sentences in given.items()
        }
        figures[f"{threshold:g}"] = average(judge(found[topic], new[topic]) for topic in given)
    return SecondTask(
        topics=len(given),
        judged=sum(map(len, given.values())),
        new=sum(len(new[topic].intersection(given[topic])) for topic in given),
        not_relevant=[f"{t} {s}" for t in given for s in sorted(new[t].difference(year.qrels[t]))],
        figures=figures,
    )


def judge(found: set[str], new: frozenset[str]) -> NewFigures:
    """Precision, recall and F of the sentences of a topic that were found to be new."""
    matched = len(found & new)
    precision = matched / len(found) if found else 0.0
    recall = matched / len(new) if new else 0.0
    f = 2.0 * precision * recall / (precision + recall) if matched else 0.0
    return NewFigures(precision, recall, f)


def average(figures: Iterator[NewFigures]) -> NewFigures:
    """The means over topics."""
    columns = list(zip(*figures, strict=True))
    return NewFigures(*(math.fsum(column) / len(column) for column in columns))
