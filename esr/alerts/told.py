"""Whether a sentence is news to somebody who was told others of its document.

A corrected document is matched again. Its sentences that were told are known by their texts, wherever they
stand now. A told sentence that is gone may have been corrected: then the matching sentence that is most like
it, of at least half its words, is its new wording, which is not told again. Others are news.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from esr.following.alerts.atom import text_digest

LEAST_SHARED = 0.5
"""The least share of words in common, of the words of both, of a sentence and its correction."""


def find_news(
    matching: Sequence[str], former: Mapping[str, str], present: Collection[str]
) -> tuple[list[int], dict[int, str]]:
    """Which of the matching sentences of a document are news, by their numbers.

    `former` has the texts that were told before by their digests, and `present` the digests of all sentences
    of the document as it is now. Also returns the digests of told sentences by the number of their new
    wording.
    """
    digests = list(map(text_digest, matching))
    first = {digest: number for number, digest in reversed(list(enumerate(digests)))}
    open_numbers = sorted(number for digest, number in first.items() if digest not in former)
    gone = {digest: text for digest, text in former.items() if digest not in present}
    pairs = sorted(
        (
            (-share, number, digest)
            for number in open_numbers
            for digest, text in gone.items()
            if (share := share_of_words(matching[number], text)) >= LEAST_SHARED
        )
    )
    reworded: dict[int, str] = {}
    for _, number, digest in pairs:
        if number not in reworded and digest not in reworded.values():
            reworded[number] = digest
    return [number for number in open_numbers if number not in reworded], reworded


def share_of_words(first: str, second: str) -> float:
    """The share of the different words of two texts that are in both, from 0 to 1."""
    words, others = (set(re.findall(r"\w+", text.lower())) for text in (first, second))
    return len(words & others) / max(len(words | others), 1)
