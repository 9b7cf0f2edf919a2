"""Passages: the hits of a list that are next to each other in their document, as one item of the list.

The first n passages stay in their places however many hits there are: a further hit joins a passage, is left
out for its document, or begins a passage after all others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from esr.index.hits import Hit

MOST_OF_DOCUMENT = 2
"""Most passages of a document in a list of the best sentences."""
MOST_SENTENCES = 5
"""Most sentences of a passage. A longer run is better read in its document."""


class Passage(Struct):
    """An item of a list: its best hit, and all its sentences in the order of their document.

    `similar` are the later hits that repeat one of them. `more` counts the hits of the document that are in
    no passage; the last passage that its document may have holds the number. `reason` says why the best hit
    is listed without a word of the query, None if it has one.
    """

    best: Hit
    sentences: Sequence[Hit]
    similar: Sequence[Hit] = ()
    more: int = 0
    reason: str | None = None


def single(hits: Iterable[Sequence[Hit]]) -> list[Passage]:
    """A passage of one sentence for each group of a hit and those that repeat it."""
    return [Passage(best, [best], similar) for best, *similar in hits]


def build_passages(
    groups: Iterable[Sequence[Hit]],
    most: int | None = MOST_OF_DOCUMENT,
    wordless: Collection[str] = (),
) -> list[Passage]:
    """Join groups, each a hit with those that repeat it, to passages. The hits need records.

    `most` is the most passages of a document, None for any number. A hit without a word of the query (its id
    is in `wordless`) is no sentence of a passage that it stands beside, where readers see it anyhow.
    """
    passages: list[Passage] = []
    at: dict[tuple[str, int], Passage] = {}
    of_document: Counter[str] = Counter()
    last: dict[str, Passage] = {}
    for first, *similar in groups:
        assert first.record is not None
        document, position = first.record.document_id, first.record.position
        beside = [at[place] for n in (-1, 1) if (place := (document, position + n)) in at]
        open_ones = [each for each in beside if len(each.sentences) < MOST_SENTENCES]
        if open_ones:
            passage = min(open_ones, key=passages.index)
            passage.similar = [*passage.similar, *similar]
            if first.sentence_id in wordless:
                continue
            passage.sentences = sorted([*passage.sentences, first], key=_position)
        elif beside or (most is not None and of_document[document] >= most):
            last[document].more += 1
            continue
        else:
            passage = last[document] = Passage(first, [first], similar)
            of_document[document] += 1
            passages.append(passage)
        at[document, position] = passage
    return passages


def _position(hit: Hit) -> int:
    return hit.record.position if hit.record is not None else 0
