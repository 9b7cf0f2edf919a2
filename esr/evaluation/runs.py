"""TREC runs: `qid Q0 sentence_id rank score tag` lines."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from esr.engines.index import Hit
from esr.errors import UsageError


def lines(topic: str, hits: Iterable[Hit], tag: str) -> Iterator[str]:
    """A topic's lines. Scores fall strictly: equal ones are set apart by the smallest step there is.

    Evaluators sort by score and break ties in ways of their own; so they see this very order.
    """
    last = math.inf
    for rank, hit in enumerate(hits, 1):
        score = hit.score if hit.score < last else math.nextafter(last, -math.inf)
        last = score
        yield f"{topic} Q0 {hit.sentence_id} {rank} {score!r} {tag}\n"


def check_tag(tag: str) -> str:
    """A run's tag: one word. Raises UsageError."""
    if not tag or len(tag.split()) != 1 or tag.strip() != tag:
        raise UsageError(f"a tag is one word, not {tag!r}")
    return tag
