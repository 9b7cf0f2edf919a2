"""The quality of folding repeats: precision and recall over clusters that character alignment finds.

    python -m benchmarks.studies.folding documents.jsonl.gz [--clusters N] [--examples N]

The clusters are independent of the measure that folds. Sentences of 40 letters and digits or more are
compared without spaces, signs and case: one repeats an earlier one if blocks of at least 8 equal characters,
in the same order (difflib), make up four fifths of it. Only pairs that share 20 consecutive characters are
compared. Clusters are the connected components of repeats over several documents. A sample of clusters is
drawn, and all sentences of their documents are folded, oldest first. A sentence is folded correctly if it
repeats, by the alignment, an earlier one of its group.
"""

from __future__ import annotations

import argparse
import random
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

from benchmarks.speed import corpus
from esr.following.overlap import Overlap, Terms, find_overlaps, group_repeats
from esr.models.tfidf_models import rarity
from esr.text.analyzer import get_analyzer

MIN_CHARACTERS, MIN_BLOCK, WINDOW = 40, 8, 20
REPEATED = 0.8
"""Minimum share of a sentence that is aligned with another one for a repeat."""
THRESHOLDS = (0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 1.0)
_SAMPLED = 8
"""The step between windows that are looked up. A repeat has dozens of windows."""
_MAX_SHARING = 60
"""Maximum sentences that share a window. One in more sentences is boilerplate."""


class Story(NamedTuple):
    """A sentence, its document, and its letters and digits."""

    document: str
    text: str
    characters: str


class Figures(NamedTuple):
    """Precision and recall. `wrong` has pairs of positions: a sentence, and the first of its wrong group.

    `missed` has pairs of a repeat that was not folded, and the sentence that it repeats.
    """

    folded: int
    right: int
    repeats: int
    found: int
    wrong: list[tuple[int, int]]
    missed: list[tuple[int, int]]

    def __str__(self) -> str:
        precision, recall = self.right / max(self.folded, 1), self.found / max(self.repeats, 1)
        sizes = f"folded {self.folded:5}   repeats {self.repeats:5}"
        return f"precision {precision:.3f}   recall {recall:.3f}   {sizes}"


def read_stories(path: Path) -> list[Story]:
    """All sentences, oldest first."""
    documents = sorted(corpus.read(path), key=lambda document: document.get("date") or "9999")
    return [
        Story(each["id"], sentence["text"], re.sub(r"[\W_]+", "", sentence["text"].casefold()))
        for each in documents
        for sentence in each["sentences"]
    ]


def aligned_share(later: str, earlier: str, matcher: SequenceMatcher[str] | None = None) -> float:
    """The share of the later text that is in common blocks. `matcher` has the later text as its second."""
    matcher = matcher or SequenceMatcher(None, "", later, autojunk=False)
    matcher.set_seq1(earlier)
    return sum(b.size for b in matcher.get_matching_blocks() if b.size >= MIN_BLOCK) / max(len(later), 1)


def find_repeats(stories: Sequence[Story]) -> dict[int, list[int]]:
    """By the position of each repeat, the positions of the earlier sentences that it repeats."""
    with_window: dict[int, list[int]] = defaultdict(list)
    for place, story in enumerate(stories):
        if len(story.characters) >= MIN_CHARACTERS:
            for window in _windows(story.characters):
                with_window[window].append(place)
    earlier_of: dict[int, set[int]] = defaultdict(set)
    for places in with_window.values():
        if len(places) <= _MAX_SHARING:
            for n, place in enumerate(places):
                earlier_of[place].update(places[:n])
    repeats = {}
    for place, candidates in sorted(earlier_of.items()):
        later = stories[place].characters
        matcher = SequenceMatcher(None, "", later, autojunk=False)
        if found := [e for e in sorted(candidates) if _repeats(later, stories[e].characters, matcher)]:
            repeats[place] = found
    return repeats


def _repeats(later: str, earlier: str, matcher: SequenceMatcher[str] | None = None) -> bool:
    if len(earlier) < REPEATED * len(later):
        return False
    return aligned_share(later, earlier, matcher) >= REPEATED


def _windows(characters: str) -> set[int]:
    data = characters.encode("utf-8")
    sums = {zlib.crc32(data[n : n + WINDOW]) for n in range(len(data) - WINDOW + 1)}
    return {window for window in sums if window % _SAMPLED == 0}


def find_clusters(repeats: Mapping[int, Sequence[int]], stories: Sequence[Story]) -> list[list[int]]:
    """The connected components of repeats that have at least two documents."""
    parent: dict[int, int] = {}

    def root(place: int) -> int:
        while parent.setdefault(place, place) != place:
            place = parent[place]
        return place

    for place, earlier in repeats.items():
        for each in earlier:
            parent[root(place)] = root(each)
    members: dict[int, list[int]] = defaultdict(list)
    for place in sorted(parent):
        members[root(place)].append(place)
    return [each for each in members.values() if len({stories[n].document for n in each}) > 1]


def judge(
    groups: Iterable[Sequence[int]], stories: Sequence[Story], repeats: Mapping[int, Collection[int]]
) -> Figures:
    """Precision and recall of groups, over sentences that are long enough to be aligned."""
    group_of: dict[int, int] = {}
    folded = right = 0
    wrong = []
    for number, group in enumerate(groups):
        for n, place in enumerate(group):
            group_of[place] = number
            later = stories[place].characters
            if n and len(later) >= MIN_CHARACTERS:
                folded += 1
                if any(_repeats(later, stories[earlier].characters) for earlier in group[:n]):
                    right += 1
                else:
                    wrong.append((place, group[0]))
    missed = [
        (place, min(earlier))
        for place, earlier in repeats.items()
        if all(group_of[each] != group_of[place] for each in earlier)
    ]
    return Figures(folded, right, len(repeats), len(repeats) - len(missed), wrong, missed)


def fold_by_jaccard(sentences: Sequence[Terms], least: float = 0.9) -> list[list[int]]:
    """Groups by Jaccard similarity, for comparison: a sentence joins the first one with at least `least`."""
    groups: list[list[int]] = []
    with_term: dict[str, list[int]] = defaultdict(list)
    for place, terms in enumerate(sentences):
        candidates = sorted({n for term in terms for n in with_term[term]})
        leaders = (n for n in candidates if _jaccard(terms, sentences[groups[n][0]]) >= least)
        number = next(leaders, None)
        if number is None:
            for term in terms:
                with_term[term].append(len(groups))
            groups.append([place])
        else:
            groups[number].append(place)
    return groups


def _jaccard(left: Terms, right: Terms) -> float:
    return len(left & right) / len(left | right)


def describe_wrong(figures: Figures, stories: Sequence[Story]) -> Iterator[str]:
    """The aligned shares of wrongly folded sentences with the sentences into which they were folded."""
    shares = [aligned_share(stories[a].characters, stories[b].characters) for a, b in figures.wrong]
    counts = Counter(min(int(share * 5), 4) for share in shares)
    for fifth in range(4, -1, -1):
        yield f"  {fifth * 20:3} % or more of it aligned: {counts[fifth]}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("documents", type=Path)
    parser.add_argument("--clusters", type=int, default=200)
    parser.add_argument("--seed", type=int, default=23)
    parser.add_argument("--examples", type=int, default=0, help="Print so many of the errors of each kind.")
    arguments = parser.parse_args()
    stories = read_stories(arguments.documents)
    clusters = find_clusters(find_repeats(stories), stories)
    chosen = random.Random(arguments.seed).sample(clusters, min(arguments.clusters, len(clusters)))
    documents = {stories[place].document for cluster in chosen for place in cluster}
    listed = [story for story in stories if story.document in documents]
    print(f"{len(stories):,} sentences, {len(clusters):,} clusters")
    print(f"{len(chosen)} clusters drawn, whose documents have {len(listed):,} sentences")

    terms_of = get_analyzer("english-stem").terms
    sf = Counter(term for story in stories for term in set(terms_of(story.text)))
    weights = {term: rarity(len(stories), count) for term, count in sf.items()}
    sentences = [frozenset(terms_of(story.text)) for story in listed]
    overlaps: list[Overlap | None] = find_overlaps(sentences, lambda terms: weights)
    repeats = find_repeats(listed)
    print(f"Jaccard 0.90   {judge(fold_by_jaccard(sentences), listed, repeats)}")
    for threshold in THRESHOLDS:
        figures = judge(group_repeats(overlaps, threshold), listed, repeats)
        print(f"overlap {threshold:.2f}   {figures}")
        print(*describe_wrong(figures, listed), sep="\n")
        for kind, pairs in (("folded", figures.wrong), ("missed", figures.missed)):
            for place, other in random.Random(0).sample(pairs, min(arguments.examples, len(pairs))):
                print(f"  {kind}: {listed[place].text}\n    {listed[other].text}")


if __name__ == "__main__":
    main()
