"""Files of `id<TAB>value` lines: topics, and the documents that a topic is restricted to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from esr.errors import InputError


def topics(path: Path) -> dict[str, str]:
    """Queries by topic id, in the file's order. Raises InputError for a bad line or a repeated id."""
    found: dict[str, str] = {}
    for where, topic, query in _lines(path, "qid<TAB>query"):
        if topic in found:
            raise InputError(where, f"topic {topic!r} stands twice: give every topic its own id")
        found[topic] = query
    if not found:
        raise InputError(str(path), "has no topics: give lines of qid<TAB>query")
    return found


def restrictions(path: Path) -> dict[str, tuple[str, ...]]:
    """Documents by topic id. Raises InputError for a bad line."""
    found: dict[str, dict[str, None]] = {}
    for _, topic, document in _lines(path, "qid<TAB>document id"):
        found.setdefault(topic, {})[document] = None
    return {topic: tuple(documents) for topic, documents in found.items()}


def _lines(path: Path, form: str) -> Iterator[tuple[str, str, str]]:
    try:
        content = path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(str(path), "not UTF-8 text: convert it") from error
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}") from error
    for number, line in enumerate(content.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        key, tab, value = line.partition("\t")
        key, value = key.strip(), value.strip()
        if not tab or not key or len(key.split()) > 1:
            raise InputError(where, f"expected {form}, found {line.strip()[:60]!r}")
        yield where, key, value
