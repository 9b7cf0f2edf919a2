"""Topic files: TSV, JSON Lines and TREC SGML, told apart by their first character."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from esr.errors import InputError, UsageError
from esr.evaluation import files, trec_topics
from esr.evaluation.files import Line
from esr.evaluation.topic import TITLE, Topic

_TSV = "qid<TAB>query"
_KINDS = "qid<TAB>type"
_JSON = 'one topic, as {"id": "1", "title": "…"}'
_ID_KEYS = ("id", "qid", "topic_id", "query_id", "_id")
_FIELD_KEYS = {
    TITLE: ("title", "query", "text"),
    "desc": ("desc", "description"),
    "narr": ("narr", "narrative"),
}
_KIND_KEYS = ("kind", "type", "toptype")
_DOCUMENT_KEYS = ("documents", "docs")


class Found(NamedTuple):
    """A topic and the line it begins at."""

    line: Line
    topic: Topic


def read(path: str | Path) -> list[Topic]:
    """The topics of a file, in its order. The file may be packed with gzip.

    Raises InputError for a bad line, a repeated id, or a file without topics.
    """
    return parse(path, list(files.read_lines(path)))


def parse(path: str | Path, content: Sequence[Line]) -> list[Topic]:
    """The topics of these lines, as `read`. `path` names the place in messages."""
    parser = {"{": _json_lines, "<": _sgml}.get(_first_character(content), _tsv)
    found: Iterator[Found] = parser(path, content)
    topics: dict[str, Topic] = {}
    for line, topic in found:
        if topic.id in topics:
            raise files.line_error(path, line, f"topic {topic.id!r} is duplicated: use unique ids")
        topics[topic.id] = topic
    if not topics:
        raise InputError(str(path), f"has no topics: give lines of {_TSV}")
    return list(topics.values())


def kinds(path: str | Path) -> dict[str, str]:
    """Types by topic id: from lines of `qid<TAB>type`, or from topics that have types.

    Raises InputError as `read` does, UsageError if no topic has a type.
    """
    content = list(files.read_lines(path))
    found: dict[str, str] = {}
    if _first_character(content) in ("{", "<"):
        found = {topic.id: topic.kind for topic in parse(path, content) if topic.kind}
    else:
        for line in content:
            id, kind = files.parse_pair(path, line, _KINDS)
            kind = kind.casefold()
            if not kind or found.setdefault(id, kind) != kind:
                raise files.line_error(path, line, f"topic {id!r} has {'two types' if kind else 'no type'}")
    if not found:
        raise UsageError(f"there are no types of topics in {path}: give lines of {_KINDS}")
    return found


def _first_character(content: Sequence[Line]) -> str:
    return content[0].text.lstrip()[:1] if content else ""


def _tsv(path: str | Path, content: Iterable[Line]) -> Iterator[Found]:
    for line in content:
        id, query = files.parse_pair(path, line, _TSV)
        yield Found(line, Topic(id, {TITLE: query}))


def _sgml(path: str | Path, content: Iterable[Line]) -> Iterator[Found]:
    return (Found(line, topic) for line, topic in trec_topics.parse(path, content))


def _json_lines(path: str | Path, content: Iterable[Line]) -> Iterator[Found]:
    for line in content:
        try:
            value = json.loads(line.text)
        except (ValueError, RecursionError):
            raise files.malformed_line(path, line, _JSON) from None
        if not isinstance(value, dict):
            raise files.malformed_line(path, line, _JSON)
        try:
            yield Found(line, _topic(value))
        except ValueError as error:
            raise files.line_error(path, line, str(error)) from None


def _topic(value: Mapping[str, Any]) -> Topic:
    """The topic of a JSON object. Raises ValueError with what is wrong."""
    id = _first(value, _ID_KEYS)
    if type(id) is int:
        id = str(id)
    if not _is_word(id):
        raise ValueError(f"the topic's id is one word, not {id!r}: give it as {_ID_KEYS[0]!r}")
    fields = {name: _text(value, keys) for name, keys in _FIELD_KEYS.items()}
    documents = _first(value, _DOCUMENT_KEYS)
    if documents is None:
        documents = []
    if not isinstance(documents, list) or not all(map(_is_word, documents)):
        raise ValueError('"documents" is a list of document ids')
    kind = _text(value, _KIND_KEYS).casefold() or None
    return Topic(
        id, {name: text for name, text in fields.items() if text}, kind, tuple(dict.fromkeys(documents))
    )


def _first(value: Mapping[str, Any], keys: Iterable[str]) -> Any:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _text(value: Mapping[str, Any], keys: Iterable[str]) -> str:
    text = _first(value, keys)
    if text is not None and not isinstance(text, str):
        raise ValueError(f"{next(iter(keys))!r} is a string, not {str(text)[:40]!r}")
    return " ".join((text or "").encode(errors="replace").decode().split())


def _is_word(value: Any) -> bool:
    """Whether this can be an id. Blanks would break runs, which are lines of words."""
    return isinstance(value, str) and value.split() == [value] and value.isprintable()
