"""Topics and runs: the files of many queries and their answers, as in evaluation campaigns.

A topic is an information need. Files of topics are TSV, JSON Lines or TREC SGML, recognised by the first
character. A run has lines of `qid Q0 sentence_id rank score tag`. A restriction names the documents that a
topic's sentences may come from. Files are plain or compressed text, and errors name the file and the line.
"""

from __future__ import annotations

import html
import json
import math
import os
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from esr.errors import InputError, UsageError, unknown
from esr.index.hits import Hit
from esr.loaders.encoding import read_lines as read_utf8_lines
from esr.loaders.files import display_name, open_source, raise_input_errors
from esr.loaders.ir_datasets import fields_of, is_dataset, read_entries

TITLE = "title"
FIELDS = (TITLE, "desc", "narr")


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic's id, and its texts among `title`, `desc` and `narr`.

    `kind` is its type, such as `event` or `opinion`, or None. `documents` are the documents that it names,
    best first, as in the Novelty track.
    """

    id: str
    fields: Mapping[str, str]
    kind: str | None = None
    documents: tuple[str, ...] = field(default=())

    def query(self, fields: str = TITLE) -> str:
        """The text to search for: one field, or several, like `title+desc`.

        Missing fields are left out. Raises UsageError for an unknown field, or if the topic has none of them.
        """
        texts = [self.fields[name] for name in split_fields(fields) if self.fields.get(name)]
        if not texts:
            existing = ", ".join(name for name, text in self.fields.items() if text) or "no text at all"
            raise UsageError(f"topic {self.id} has no {fields}: it has {existing}")
        return " ".join(texts)


def split_fields(fields: str) -> list[str]:
    """The names in a text like `title+desc`. Raises UsageError for an unknown one."""
    names = [name.strip() for name in fields.split("+")]
    for name in names:
        if name not in FIELDS:
            raise unknown("field of a topic", name, FIELDS)
    return names


# Lines of files


_MAX_CHARACTERS = 60


class Line(NamedTuple):
    """A line of a file, and its number from 1."""

    number: int
    text: str


def read_lines(path: str | Path) -> Iterator[Line]:
    """Read the lines that are not blank, lazily. `-` is standard input.

    Raises InputError for a file that cannot be read or decompressed, and at a line that is not UTF-8 text.
    """
    name = display_name(os.fspath(path))
    with raise_input_errors(name), open_source(os.fspath(path), os.path.basename(path)) as file:
        for number, text in read_utf8_lines(file.source):
            if "\0" in text:
                raise InputError(f"{name}:{number}", "this line contains a zero byte: it is not text")
            if text.strip():
                yield Line(number, text)


def malformed_line(path: str | Path, line: Line, expected: str) -> InputError:
    """An error for a line that does not have the expected form."""
    text = line.text.strip()
    excerpt = text if len(text) <= _MAX_CHARACTERS else f"{text[:_MAX_CHARACTERS]}…"
    return line_error(path, line, f"expected {expected}, found {excerpt!r}")


def line_error(path: str | Path, line: Line, problem: str) -> InputError:
    """An error at a line of a file."""
    return InputError(f"{display_name(os.fspath(path))}:{line.number}", problem)


def parse_pair(path: str | Path, line: Line, expected: str) -> tuple[str, str]:
    """The two columns of an `id<TAB>value` line. The value may be empty.

    Raises InputError if there is no tab, or if the id is not one word.
    """
    key, tab, value = line.text.partition("\t")
    key, value = key.strip(), value.strip()
    if not tab or len(key.split()) != 1:
        raise malformed_line(path, line, expected)
    return key, value


# TREC topics


_KIND_TAGS = ("toptype", "type")
_DOCUMENT_TAGS = ("docs", "docno", "docid", "doc")
_TAGS = ("top", "num", *FIELDS, *_KIND_TAGS, *_DOCUMENT_TAGS)
# An unknown tag ends a field only at the start of a line. "<b>" within a sentence does not.
_TAG = re.compile(
    rf"<(?P<end>/?)(?P<tag>{'|'.join(_TAGS)})\b[^<>\n]*>|^[ \t]*</?(?P<other>[a-z]\w*)[^<>\n]*>", re.I | re.M
)
# Labels that repeat the tag.
_LABEL = re.compile(r"(?:Number|Topic|Description|Narrative|Type|Documents)\s*:", re.I)
_RANKED = re.compile(r"^\d{1,6}[.:]?\s+(?=\S+$)")


def parse_trec_topics(path: str | Path, content: Iterable[Line]) -> Iterator[tuple[Line, Topic]]:
    """Parse topics in TREC SGML, each with its first line.

    The fields are `<num>`, `<title>`, `<desc>` and `<narr>` within `<top>`. Tags are seldom closed, so a
    field ends at the next tag. A topic of the Novelty track also has a type, `<toptype>event`, and the
    documents that its sentences come from, `<docs>`, best first. Raises InputError for a topic without a
    number or with two.
    """
    lines = list(content)
    texts = [line.text.rstrip("\r\n") for line in lines]
    text = "\n".join(texts)
    starts = list(accumulate((len(line) + 1 for line in texts), initial=0))

    def line_at(position: int) -> Line:
        return lines[bisect_right(starts, position) - 1]

    tags = list(_TAG.finditer(text))
    begin: int | None = None
    parts: dict[str, list[str]] = {}
    ends = [*(tag.start() for tag in tags), len(text)][1:]
    for tag, end in zip(tags, ends, strict=True):
        name = (tag["tag"] or "").lower()
        if name == "top":
            if begin is not None:
                yield line_at(begin), _build_trec_topic(path, line_at(begin), parts)
            begin, parts = (None if tag["end"] else tag.start()), defaultdict(list)
        elif begin is None:
            if name in ("num", *FIELDS):
                raise line_error(path, line_at(tag.start()), f"this <{name}> needs a <top> before it")
        elif name and not tag["end"]:
            parts[name].append(_LABEL.sub("", html.unescape(text[tag.end() : end]).strip(), count=1))
    if begin is not None:
        yield line_at(begin), _build_trec_topic(path, line_at(begin), parts)


def _build_trec_topic(path: str | Path, line: Line, parts: Mapping[str, list[str]]) -> Topic:
    numbers = parts.get("num", [])
    if len(numbers) != 1:
        problem = "has no <num>" if not numbers else "has two <num>: add the missing <top> between them"
        raise line_error(path, line, f"this <top> {problem}")
    number = numbers[0].split()
    if len(number) != 1:
        problem = f"the topic's number must be one word, not {numbers[0].strip()[:60]!r}"
        raise line_error(path, line, problem)
    fields = {name: " ".join(" ".join(parts.get(name, [])).split()) for name in FIELDS}
    kinds = [" ".join(kind.split()).casefold() for tag in _KIND_TAGS for kind in parts.get(tag, [])]
    return Topic(
        number[0],
        {name: text for name, text in fields.items() if text},
        next(filter(None, kinds), None),
        tuple(dict.fromkeys(_iterate_documents(parts))),
    )


def _iterate_documents(parts: Mapping[str, list[str]]) -> Iterator[str]:
    """The document ids, one or more per line. A rank may precede a single id on its line."""
    for tag in _DOCUMENT_TAGS:
        for part in parts.get(tag, []):
            for row in part.splitlines():
                yield from _RANKED.sub("", row.strip()).split()


# Topic files


_TSV = "qid<TAB>query"
_KINDS = "qid<TAB>type"
_JSON = 'one topic, like {"id": "1", "title": "…"}'
_ID_KEYS = ("id", "qid", "topic_id", "query_id", "_id")
_FIELD_KEYS = {
    TITLE: ("title", "query", "text"),
    "desc": ("desc", "description"),
    "narr": ("narr", "narrative"),
}
_KIND_KEYS = ("kind", "type", "toptype")
_DOCUMENT_KEYS = ("documents", "docs")


class LocatedTopic(NamedTuple):
    """A topic, and its first line in the file."""

    line: Line
    topic: Topic


def read_topics(path: str | Path) -> list[Topic]:
    """The topics of a file, in its order, or of `ir_datasets:NAME`. The file may be compressed.

    Raises InputError for a malformed line, a duplicated id, or a file without topics.
    """
    if is_dataset(path):
        return [
            _to_topic(f"{path}:{number}", {"text": entry.default_text(), **fields_of(entry)})
            for number, entry in enumerate(read_entries(path, "queries"), 1)
        ]
    return parse(path, list(read_lines(path)))


def _to_topic(where: str, fields: Mapping[str, Any]) -> Topic:
    try:
        return _build_topic({name: value for name, value in fields.items() if isinstance(value, str)})
    except ValueError as error:
        raise InputError(where, str(error)) from None


def parse(path: str | Path, content: Sequence[Line]) -> list[Topic]:
    """The topics in these lines, as from `read_topics`. Errors name `path`."""
    parser = {"{": _parse_json_lines, "<": _parse_sgml}.get(_first_character(content), _parse_tsv)
    located: Iterator[LocatedTopic] = parser(path, content)
    topics: dict[str, Topic] = {}
    for line, topic in located:
        if topic.id in topics:
            raise line_error(path, line, f"topic {topic.id!r} is duplicated: use unique ids")
        topics[topic.id] = topic
    if not topics:
        raise InputError(str(path), f"contains no topics: it needs lines of {_TSV}")
    return list(topics.values())


def read_topic_kinds(path: str | Path) -> dict[str, str]:
    """Types by topic id, from lines of `qid<TAB>type` or from topics that have types.

    Raises InputError like `read_topics`, and UsageError if no topic has a type.
    """
    content = list(read_lines(path))
    kinds: dict[str, str] = {}
    if _first_character(content) in ("{", "<"):
        kinds = {topic.id: topic.kind for topic in parse(path, content) if topic.kind}
    else:
        for line in content:
            id, kind = parse_pair(path, line, _KINDS)
            kind = kind.casefold()
            if not kind or kinds.setdefault(id, kind) != kind:
                raise line_error(path, line, f"topic {id!r} has {'two types' if kind else 'no type'}")
    if not kinds:
        raise UsageError(f"{path} contains no types of topics: it needs lines of {_KINDS}")
    return kinds


def _first_character(content: Sequence[Line]) -> str:
    return content[0].text.lstrip()[:1] if content else ""


def _parse_tsv(path: str | Path, content: Iterable[Line]) -> Iterator[LocatedTopic]:
    for line in content:
        id, query = parse_pair(path, line, _TSV)
        yield LocatedTopic(line, Topic(id, {TITLE: query}))


def _parse_sgml(path: str | Path, content: Iterable[Line]) -> Iterator[LocatedTopic]:
    return (LocatedTopic(line, topic) for line, topic in parse_trec_topics(path, content))


def _parse_json_lines(path: str | Path, content: Iterable[Line]) -> Iterator[LocatedTopic]:
    for line in content:
        try:
            value = json.loads(line.text)
        except (ValueError, RecursionError):
            raise malformed_line(path, line, _JSON) from None
        if not isinstance(value, dict):
            raise malformed_line(path, line, _JSON)
        try:
            yield LocatedTopic(line, _build_topic(value))
        except ValueError as error:
            raise line_error(path, line, str(error)) from None


def _build_topic(value: Mapping[str, Any]) -> Topic:
    """Build a topic from a JSON object. Raises ValueError with the problem."""
    id = _first_value(value, _ID_KEYS)
    if type(id) is int:
        id = str(id)
    if not _is_word(id):
        raise ValueError(f"the topic's id must be one word, not {id!r}: name it {_ID_KEYS[0]!r}")
    fields = {name: _read_text(value, keys) for name, keys in _FIELD_KEYS.items()}
    documents = _first_value(value, _DOCUMENT_KEYS)
    if documents is None:
        documents = []
    if not isinstance(documents, list) or not all(map(_is_word, documents)):
        raise ValueError('"documents" must be a list of document ids')
    kind = _read_text(value, _KIND_KEYS).casefold() or None
    return Topic(
        id, {name: text for name, text in fields.items() if text}, kind, tuple(dict.fromkeys(documents))
    )


def _first_value(value: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _read_text(value: Mapping[str, Any], keys: Iterable[str]) -> str:
    text = _first_value(value, keys)
    if text is not None and not isinstance(text, str):
        raise ValueError(f"{next(iter(keys))!r} must be a string, not {str(text)[:40]!r}")
    return " ".join((text or "").encode(errors="replace").decode().split())


def _is_word(value: Any) -> bool:
    """Whether the value can be an id. Blanks separate the columns of runs, so an id must not have any."""
    return isinstance(value, str) and value.split() == [value] and value.isprintable()


Scores = dict[str, dict[str, float]]
"""Scores by topic and sentence."""

_FORM = "qid Q0 sentence_id rank score tag"


class Run(NamedTuple):
    """A system's answers. `tag` is None if the file has several tags or no lines."""

    tag: str | None
    scores: Scores


def read_run(path: str | Path) -> Run:
    """Read a run of any system, in the file's order. The file may be compressed.

    As in every evaluation tool, scores determine the order: lines may be in any order, and ranks are ignored.
    Raises InputError for a malformed line, or a sentence that is duplicated in a topic.
    """
    scores: Scores = {}
    tags: set[str] = set()
    for line in read_lines(path):
        words = line.text.split()
        if len(words) != 6:
            raise malformed_line(path, line, _FORM)
        topic, _, sentence, _, number, tag = words
        try:
            score = float(number)
        except ValueError:
            raise malformed_line(path, line, f"{_FORM} with a number as the score") from None
        if math.isnan(score):
            raise malformed_line(path, line, f"{_FORM} with a number as the score")
        answers = scores.setdefault(topic, {})
        if sentence in answers:
            problem = f"sentence {sentence} is duplicated in topic {topic}: remove one of the lines"
            raise line_error(path, line, problem)
        answers[sentence] = score
        tags.add(tag)
    return Run(tags.pop() if len(tags) == 1 else None, scores)


def remove_duplicates(paths: Iterable[str]) -> list[str]:
    """The paths without repetitions of a file. A baseline, for example, may be among the runs."""
    by_file: dict[str, str] = {}
    for path in paths:
        by_file.setdefault(os.path.realpath(path), path)
    return list(by_file.values())


def display_names(runs: Mapping[str, Run]) -> dict[str, str]:
    """Names of runs by path: their tags, or all their paths if a tag is missing or two are the same."""
    tags = Counter(run.tag for run in runs.values())
    if None in tags or max(tags.values()) > 1:
        return {path: path for path in runs}
    return {path: str(run.tag) for path, run in runs.items()}


def sort_sentences(scores: Mapping[str, float]) -> list[str]:
    """A topic's sentences in trec_eval's order: by score in single precision, ties by descending id."""
    with np.errstate(over="ignore"):
        return sorted(scores, key=lambda sentence: (np.float32(scores[sentence]), sentence), reverse=True)


def format_lines(topic: str, hits: Iterable[Hit], tag: str) -> Iterator[str]:
    """A topic's lines of a run. Scores decrease strictly: a tie is broken by the smallest step of a double.

    Sorting by score thus preserves this order. trec_eval reads scores in single precision, where this step
    vanishes, and orders such ties by descending id. A larger step would falsify the scores.
    """
    last = math.inf
    for rank, hit in enumerate(hits, 1):
        score = hit.score if hit.score < last else math.nextafter(last, -math.inf)
        last = score
        yield f"{topic} Q0 {hit.sentence_id} {rank} {score!r} {tag}\n"


def check_tag(tag: str) -> str:
    """Return the tag of a run if it is one word. Raises UsageError otherwise."""
    if not tag or len(tag.split()) != 1 or tag.strip() != tag:
        raise UsageError(f"a tag must be one word, not {tag!r}")
    return tag


# Restrictions


FROM_TOPICS = "topics"
"""The value, in place of a file name, for the documents that the topics name."""

Restrictions = dict[str, tuple[str, ...]]
_RESTRICTION_FORM = "qid<TAB>document id"


def choose_restrictions(source: str | Path | None, topics: Iterable[Topic]) -> Restrictions | None:
    """The restrictions that an option's value selects: None for no restriction, a file, or "topics".

    Raises like `read_restrictions` and `restrictions_from_topics`.
    """
    if source is None:
        return None
    return restrictions_from_topics(topics) if str(source) == FROM_TOPICS else read_restrictions(source)


def read_restrictions(path: str | Path) -> Restrictions:
    """Documents by topic id, in the file's order. Raises InputError for a malformed line or an empty file."""
    by_topic: dict[str, dict[str, None]] = {}
    for line in read_lines(path):
        topic, document = parse_pair(path, line, _RESTRICTION_FORM)
        if len(document.split()) != 1:
            raise malformed_line(path, line, _RESTRICTION_FORM)
        by_topic.setdefault(topic, {})[document] = None
    if not by_topic:
        raise InputError(str(path), f"contains no documents: it needs lines of {_RESTRICTION_FORM}")
    return {topic: tuple(documents) for topic, documents in by_topic.items()}


def restrictions_from_topics(topics: Iterable[Topic]) -> Restrictions:
    """The documents that the topics themselves name. Raises UsageError if none does."""
    restrictions = {topic.id: topic.documents for topic in topics if topic.documents}
    if not restrictions:
        raise UsageError(
            "no topic names documents: use a file with lines of qid<TAB>document id "
            f"(./{FROM_TOPICS} if that is its name)"
        )
    return restrictions
