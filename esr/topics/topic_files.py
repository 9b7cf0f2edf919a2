"""Files of topics, in TREC's format, as tables and as lines of JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from esr.errors import InputError, UsageError
from esr.loaders.ir_datasets import is_dataset, read_entries, read_fields
from esr.topics.lines import Line, line_error, malformed_line, parse_pair, read_lines
from esr.topics.topic import TITLE, Topic
from esr.topics.trec_topics import parse_trec_topics

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
            _to_topic(f"{path}:{number}", {"text": entry.default_text(), **read_fields(entry)})
            for number, entry in enumerate(read_entries(path, "queries"), 1)
        ]
    return parse_topics(path, list(read_lines(path)))


def _to_topic(where: str, fields: Mapping[str, Any]) -> Topic:
    try:
        return _build_topic({name: value for name, value in fields.items() if isinstance(value, str)})
    except ValueError as error:
        raise InputError(where, str(error)) from None


def parse_topics(path: str | Path, content: Sequence[Line]) -> list[Topic]:
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
        kinds = {topic.id: topic.kind for topic in parse_topics(path, content) if topic.kind}
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
