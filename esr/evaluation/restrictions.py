"""Restrictions: the documents that a topic's sentences may come from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from esr.errors import InputError, UsageError
from esr.evaluation import files
from esr.evaluation.topic import Topic

FROM_TOPICS = "topics"
"""Selects the topics' own documents in the place of a file name."""

Restrictions = dict[str, tuple[str, ...]]
_FORM = "qid<TAB>document id"


def choose(source: str | Path | None, topics: Iterable[Topic]) -> Restrictions | None:
    """What an option names: a file, or the topics' own documents by the word "topics"; None for all.

    Raises like `read` and `from_topics`.
    """
    if source is None:
        return None
    return from_topics(topics) if str(source) == FROM_TOPICS else read(source)


def read(path: str | Path) -> Restrictions:
    """Documents by topic id, in the file's order. Raises InputError for a malformed line or an empty file."""
    by_topic: dict[str, dict[str, None]] = {}
    for line in files.read_lines(path):
        topic, document = files.parse_pair(path, line, _FORM)
        if len(document.split()) != 1:
            raise files.malformed_line(path, line, _FORM)
        by_topic.setdefault(topic, {})[document] = None
    if not by_topic:
        raise InputError(str(path), f"contains no documents: it needs lines of {_FORM}")
    return {topic: tuple(documents) for topic, documents in by_topic.items()}


def from_topics(topics: Iterable[Topic]) -> Restrictions:
    """The documents that the topics themselves name. Raises UsageError if none does."""
    restrictions = {topic.id: topic.documents for topic in topics if topic.documents}
    if not restrictions:
        raise UsageError(
            "no topic names documents: use a file with lines of qid<TAB>document id "
            f"(./{FROM_TOPICS} if that is its name)"
        )
    return restrictions
