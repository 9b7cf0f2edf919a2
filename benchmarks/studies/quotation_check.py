"""Measure checks of quotations: changed quotations find their original, and foreign sentences are not near.

    python -m benchmarks.studies.quotation_check INDEX --foreign squad/docs.jsonl.gz

Quotations of at least 8 words are drawn from the documents of INDEX, some over two sentences, and changed by
one to four edits of words, an ellipsis or a bracket; some are also cut at their ends. A check is right if its
first appearance has the words of the original. Recombined sentences join the beginning of one quotation and
the end of another, of as many words; foreign ones come from another collection. Of the seeds 63 and 64 the
thresholds were chosen; --all counts all cases of another one, not only the odd ones.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import numpy as np

import esr
from esr.evidence.alignment import read_words
from esr.evidence.quotation_marks import find_quotations
from esr.evidence.quotation_matches import NEAR
from esr.wording import table_lines

LEAST, MOST = 8, 60
"""Words of a quotation."""
SIZE = range(LEAST, MOST + 1)
UNSAID = ("recombined", "foreign")
THRESHOLDS = (0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8)


class Case(NamedTuple):
    """A text to check. `original` is empty for a text that nobody said."""

    kind: str
    text: str
    original: str


class Outcome(NamedTuple):
    """The verdict for a case, the greatest similarity of a sentence, and whether the original came first."""

    case: Case
    verdict: str
    similarity: float
    longest: int
    is_right: bool
    milliseconds: float

    def is_near(self, least: float) -> bool:
        """Whether it would be near or exact at this threshold."""
        words = len(read_words(self.case.text))
        return self.similarity >= least and self.longest <= min(max(words // 4, 2), 4)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure checks of quotations.")
    parser.add_argument("index")
    parser.add_argument("--foreign", type=Path, help="documents of another collection, JSON Lines")
    parser.add_argument("--cases", type=int, default=1_000, help="of each kind")
    parser.add_argument("--seed", type=int, default=63)
    parser.add_argument("--all", action="store_true", help="count the even cases too")
    parser.add_argument("--least", type=int, default=LEAST, help="words of a quotation")
    parser.add_argument("--most", type=int, default=MOST, help="words of a quotation")
    parser.add_argument("--failures", type=int, default=0, help="wrong cases to print")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    print(f"{options.index}, seed {options.seed}\n")
    with closing(esr.open(options.index)) as index:
        size = range(options.least, options.most + 1)
        said = list(draw_quotations(index, rng, 2 * options.cases, size))
        changed = [change(rng, text, said) for text in said[: options.cases]]
        invented = [
            Case("recombined", text, "") for text in recombine(rng, said, options.cases, options.least)
        ]
        foreign = []
        if options.foreign:
            foreign = [
                Case("foreign", text, "") for text in read_foreign(options.foreign, rng, options.cases, size)
            ]
        index.check(said[0])  # what is loaded at the first call
        outcomes = [check(index, case) for case in (*changed, *invented, *foreign)]
    report(outcomes, options.all, options.failures)


# Cases


def draw_quotations(index: esr.Index, rng: random.Random, number: int, size: range = SIZE) -> Iterator[str]:
    """Quotations of the index in random order; one in ten takes two sentences, unless `size` is small."""
    drawn: list[str] = []
    for document in index.documents():
        texts = [sentence.text for sentence in document.sentences]
        for one, two in zip(texts, [*texts[1:], ""], strict=True):
            spans = [one[start:end] for start, end in find_quotations(one)]
            drawn += [span for span in spans if len(read_words(span)) in size]
            if rng.random() < 0.02 and min(len(read_words(one)), len(read_words(two))) >= LEAST:
                drawn += [f"{one} {two}"] if size.stop > LEAST else []
    rng.shuffle(drawn)
    yield from list(dict.fromkeys(drawn))[:number]


Change = Callable[[random.Random, list[str], Sequence[str]], None]


def edit(rng: random.Random, words: list[str], others: Sequence[str]) -> None:
    """Replace, leave out, add, exchange or misspell a word."""
    if len(words) < 2:  # a script without blanks
        return
    kind, n = rng.choice("rdais"), rng.randrange(len(words) - 1)
    if kind == "r":
        words[n] = rng.choice(others)
    elif kind == "d":
        del words[n]
    elif kind == "a":
        words.insert(n, rng.choice(others))
    elif kind == "i":
        words[n], words[n + 1] = words[n + 1], words[n]
    else:
        at = rng.randrange(len(words[n]))
        words[n] = words[n][:at] + rng.choice("aeinrst") + words[n][at + 1 :]


def change(rng: random.Random, text: str, all_of: Sequence[str]) -> Case:
    """A case of a changed quotation."""
    words = text.split()
    kind = rng.choice(("1 edit", "2 edits", "3 edits", "4 edits", "ellipsis", "bracket"))
    if rng.random() < 0.3 and len(words) > LEAST + 4:
        words = words[rng.randrange(3) : len(words) - rng.randrange(3)]
    original = " ".join(words)
    if kind == "ellipsis":
        start = rng.randrange(2, max(3, len(words) - 4))
        words[start : start + rng.randrange(1, 4)] = [rng.choice(("…", "...", "[…]"))]
    elif kind == "bracket":
        n = rng.randrange(len(words))
        words[n : n + rng.choice((1, 1, 2))] = [f"[{rng.choice(('the president', 'they', 'Mr Smith'))}]"]
    else:
        others = rng.choice(all_of).split()
        for _ in range(int(kind[0])):
            edit(rng, words, others)
    return Case(kind, " ".join(words), original)


def recombine(rng: random.Random, texts: Sequence[str], number: int, least: int = LEAST) -> Iterator[str]:
    long = [text for text in texts if len(text.split()) >= least]
    for _ in range(number):
        one, two = (text.split() for text in rng.sample(long, 2))
        half = min(len(one), len(two)) // 2
        yield " ".join([*one[:half], *two[-half:]])


def read_foreign(path: Path, rng: random.Random, number: int, size: range) -> list[str]:
    with (
        gzip.open(path, "rt", encoding="utf-8")
        if path.suffix == ".gz"
        else path.open(encoding="utf-8") as lines
    ):
        texts = [sentence["text"] for line in lines for sentence in json.loads(line)["sentences"]]
    long = [text for text in texts if len(read_words(text)) in size]
    return rng.sample(long, min(number, len(long)))


# Outcomes


def key_of(text: str) -> str:
    return " " + " ".join(token.key for token in read_words(text)) + " "


def check(index: esr.Index, case: Case) -> Outcome:
    text = f"“{case.text.translate(_MARKS)}”"  # one quotation, whatever marks are in it
    started = time.perf_counter()
    (found,) = index.check(text).quotations
    milliseconds = 1000 * (time.perf_counter() - started)
    best = found.first or next(iter(found.nearest), None)
    is_right = bool(case.original and found.first and key_of(case.original) in key_of(found.first.text))
    runs = (
        [max(len(read_words(d.text)), len(read_words(d.original))) for d in best.differences] if best else []
    )
    similarity = best.similarity if best else 0.0
    return Outcome(case, found.verdict, similarity, max(runs, default=0), is_right, milliseconds)


_MARKS = dict.fromkeys(map(ord, '"“”„«»'))


def report(outcomes: Sequence[Outcome], counts_all: bool, failures: int) -> None:
    halves = {"even": outcomes[::2], "odd": outcomes if counts_all else outcomes[1::2]}
    print("Near at a threshold, even cases, in percent:\n")
    rows = []
    for least in THRESHOLDS:
        said = [o for o in halves["even"] if o.case.original]
        others = [[o for o in halves["even"] if o.case.kind == kind] for kind in UNSAID]
        shares = [share([o.is_near(least) for o in own]) for own in (said, *others)]
        rows.append([str(least), *shares])
    print("\n".join(table_lines(["similarity", "changed", *UNSAID], rows, left=1)))
    print(f"\n{'All' if counts_all else 'Odd'} cases, at {NEAR}, in percent:\n")
    kinds = list(dict.fromkeys(o.case.kind for o in outcomes))
    rows = []
    for kind in ("changed", *kinds):
        own = [o for o in halves["odd"] if (o.case.kind == kind or (kind == "changed" and o.case.original))]
        times = np.array([o.milliseconds for o in own])
        rows.append(
            [
                kind,
                str(len(own)),
                share([o.is_right for o in own]) if own[0].case.original else "",
                *(share([o.verdict == verdict for o in own]) for verdict in ("exact", "near", "none")),
                *(f"{np.percentile(times, q):.1f}" for q in (50, 95)),
            ]
        )
    head = ["cases", "number", "original first", "exact", "near", "none", "median ms", "95 % ms"]
    print("\n".join(table_lines(head, rows, left=1)))
    wrong = [
        o
        for o in halves["odd"]
        if (o.case.original and not o.is_right) or (not o.case.original and o.verdict != "none")
    ]
    for outcome in wrong[:failures]:
        print(f"\n{outcome.case.kind}, {outcome.verdict}, {outcome.similarity}: {outcome.case.text}")
        print(f"  {outcome.case.original}")


def share(are_counted: Sequence[bool]) -> str:
    return f"{100 * sum(are_counted) / max(len(are_counted), 1):.1f}"


if __name__ == "__main__":
    main()
