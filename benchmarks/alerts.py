"""The time to match a delivery against many saved searches, and that of running each search.

    python -m benchmarks.alerts INDEX [--searches N] [--documents N] [--checked N] [--distinct]

The delivery is the last documents of the index. The searches are made of words of the whole index: words,
alternatives, phrases, exclusions, beginnings of words, titles, sources, dates, names and least scores, and,
where the index has vectors, meaning. With `--distinct`, each search asks for something that no other asks
for, most of all names: a third for a name of the index, a sixth for one as a speaker, a sixth for one as a
filter beside a word, and a third for a phrase of two words. `--checked` of them are also run by themselves,
and compared.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from typing import Any

from esr.alerts.alert_conditions import Conditions, read_conditions
from esr.alerts.matching import find_matches, run_search
from esr.errors import EsrError
from esr.index.contract import Index
from esr.index.questions import MainEncoder, NamesWithPrefix
from esr.query import parse
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.document import Document

_SAMPLE = 3_000
"""Number of documents, spread over the index, whose words make the searches."""


def make_searches(index: Index, number: int, seed: int = 1) -> list[dict[str, Any]]:
    """Conditions as in a file of saved searches, of words that occur in the index."""
    draw = random.Random(seed)
    total = sum(1 for _ in index.documents())
    positions = draw.sample(range(total), min(_SAMPLE, total))
    documents = list(index.documents(positions=positions))
    sentences = [s.text for document in documents for s in document.sentences[:20]]
    words = [w for text in sentences for w in text.split() if w.isalpha() and w.islower() and len(w) > 4]
    capitals = [
        w for text in sentences for w in text.split()[1:] if w.isalpha() and w.istitle() and len(w) > 3
    ]
    has_term = {word: _has_term(index, word) for word in set(capitals)}
    capitals = [word for word in capitals if has_term[word]]
    sources = sorted({document.source for document in documents if document.source})
    names = index.vocabulary(NamesWithPrefix("", 2_000))
    has_vectors = index.status(MainEncoder()) is not None
    searches: list[dict[str, Any]] = []
    while len(searches) < number:
        a, b, c, name = draw.choice(words), draw.choice(words), draw.choice(words), draw.choice(capitals)
        kind = draw.randrange(12 if has_vectors else 11)
        kinds: dict[int, dict[str, Any]] = {
            0: {"query": f"{name} {a}"},
            1: {"query": f"{name} {a} {b}"},
            2: {"query": f'"{name} {a}" OR {b} {c}'},
            3: {"query": f"{name} {a} -{b}"},
            4: {"query": f"{name} {a[:5]}*"},
            5: {"query": f"title:{name} {a}"},
            6: {"query": f"{name} {a}", "source": [draw.choice(sources)] if sources else []},
            7: {"query": f"{name} {a}", "after": "2017-01-15"},
            8: {"query": f"{name} {a}", "least_score": draw.uniform(-14.0, -6.0)},
            9: {"query": f"{name} {a}", "entity": [draw.choice(names)]} if names else {"query": name},
            10: {"query": name},
            11: {"like": [draw.choice(sentences)], "similarity": 0.7},
        }
        search = kinds[kind]
        try:
            parse(search.get("query", ""))
            read_conditions(search)
        except EsrError:
            continue
        searches.append(search)
    return searches


def make_distinct_searches(index: Index, number: int, seed: int = 1) -> list[dict[str, Any]]:
    """Conditions of which no two have the same name or phrase. The index must have as many names."""
    draw = random.Random(seed)
    names = index.vocabulary(NamesWithPrefix("", 2 * number))
    draw.shuffle(names)
    phrases: dict[str, None] = {}
    total = sum(1 for _ in index.documents())
    for document in index.documents(positions=draw.sample(range(total), min(_SAMPLE, total))):
        for sentence in document.sentences:
            words = [word for word in sentence.text.split() if word.isalpha()]
            pairs = [" ".join(pair) for pair in pairwise(words) if all(_has_term(index, w) for w in pair)]
            phrases.update(dict.fromkeys(draw.sample(pairs, min(len(pairs), 1))))
        if len(phrases) > number:
            break
    searches: list[dict[str, Any]] = []
    for name, phrase in zip(names, phrases, strict=False):
        word = phrase.split()[0]
        kinds: tuple[dict[str, Any], ...] = (
            {"query": f'name:"{name}"'},
            {"query": f'"{phrase}"'},
            {"query": f'speaker:"{name}"'},
            {"query": f'name:"{name}" -{word}'},
            {"query": f'"{phrase}" OR title:{word}'},
            {"query": f"{word}", "entity": [name]},
        )
        search = kinds[len(searches) % 6]
        with suppress(EsrError):
            parse(search["query"])
            read_conditions(search)
            searches.append(search)
        if len(searches) == number:
            return searches
    raise SystemExit(f"the index has names and phrases for {len(searches):,} searches only")


def _has_term(index: Index, word: str) -> bool:
    """Whether a word alone can be searched for: it is no stop word, such as the *During* of a title."""
    try:
        return bool(Searcher(index, owns_index=False).interpret(parse(word)).counts)
    except EsrError:
        return False


def compare(index: Index, documents: Sequence[Document], searches: Sequence[Conditions], found: Any) -> float:
    """Run searches by themselves. Returns the milliseconds of one; raises if one differs."""
    delivered = {sentence.id for document in documents for sentence in document.sentences}
    started = time.perf_counter()
    answers = [run_search(index, search) for search in searches]
    milliseconds = (time.perf_counter() - started) * 1000.0 / max(len(searches), 1)
    for search, matches, answer in zip(searches, found, answers, strict=True):
        right = sorted(match.sentence_id for match in answer if match.sentence_id in delivered)
        if sorted(match.sentence_id for match in matches) != right:
            raise SystemExit(f"a search by itself has another answer: {search}")
    return milliseconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("index")
    parser.add_argument("--searches", type=int, default=10_000)
    parser.add_argument("--documents", type=int, default=1_000)
    parser.add_argument("--checked", type=int, default=100)
    parser.add_argument("--distinct", action="store_true")
    arguments = parser.parse_args()
    with open_searcher(arguments.index) as searcher:
        index = searcher.index.snapshot()
        documents = list(index.documents())[-arguments.documents :]
        make = make_distinct_searches if arguments.distinct else make_searches
        searches = [read_conditions(table) for table in make(index, arguments.searches)]
        started, processor = time.perf_counter(), time.process_time()
        matches = find_matches(index, documents, searches)
        seconds, processor = time.perf_counter() - started, time.process_time() - processor
        sentences = sum(len(document.sentences) for document in documents)
        print(f"documents          {len(documents):>12,}")
        print(f"sentences          {sentences:>12,}")
        print(f"searches           {len(searches):>12,}")
        print(f"  with a match     {sum(map(bool, matches.by_search)):>12,}")
        print(f"  matches          {sum(map(len, matches.by_search)):>12,}")
        print(f"  failed           {len(matches.failures):>12,}")
        print(f"seconds            {seconds:>12.2f}")
        print(f"processor seconds  {processor:>12.2f}")
        print(f"memory, MB         {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:>12,.0f}")
        chosen = random.Random(2).sample(range(len(searches)), arguments.checked)
        chosen = [n for n in chosen if n not in matches.failures]
        single = compare(
            index, documents, [searches[n] for n in chosen], [matches.by_search[n] for n in chosen]
        )
        print(f"one search by itself, ms {single:>6.1f}")


if __name__ == "__main__":
    main()
