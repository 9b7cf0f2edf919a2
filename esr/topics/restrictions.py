"""The documents to which the search for a topic is restricted."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from esr.errors import InputError, UsageError
from esr.topics.lines import malformed_line, parse_pair, read_lines
from esr.topics.topic import Topic

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
