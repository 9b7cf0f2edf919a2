"""The documents that a topic's sentences may come from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from esr.errors import InputError, UsageError
from esr.evaluation import files
from esr.evaluation.topic import Topic

FROM_TOPICS = "topics"
"""What stands for the topics' own documents where a file could be named."""

Restrictions = dict[str, tuple[str, ...]]
_FORM = "qid<TAB>document id"


def read(path: str | Path) -> Restrictions:
    """Documents by topic id, in the file's order. Raises InputError for a bad line or an empty file."""
    found: dict[str, dict[str, None]] = {}
    for line in files.read_lines(path):
        topic, document = files.parse_pair(path, line, _FORM)
        if len(document.split()) != 1:
            raise files.malformed_line(path, line, _FORM)
        found.setdefault(topic, {})[document] = None
    if not found:
        raise InputError(str(path), f"names no documents: give lines of {_FORM}")
    return {topic: tuple(documents) for topic, documents in found.items()}


def of_topics(topics: Iterable[Topic]) -> Restrictions:
    """The documents that the topics name themselves. Raises UsageError if none names any."""
    found = {topic.id: topic.documents for topic in topics if topic.documents}
    if not found:
        raise UsageError(
            "no topic names documents: give a file of qid<TAB>document id lines "
            f"(./{FROM_TOPICS} if it is called so)"
        )
    return found
