"""What errors of the parser cost the rankings of term dependence.

    python benchmarks/parse_errors.py GOLD.conllu.gz... --work FOLDER [--topics 1000]

The sentences of treebanks are loaded twice: with their gold trees, and enriched by spaCy. Topics come from
the sentences: half of a topic's words from one, which is the only relevant one, half from another. `linked`:
the words from the relevant sentence are linked in its gold tree, as in a query that means them together;
`any`: they are drawn at random. A third index has no syntax: each word hangs on the one before it.
"""

from __future__ import annotations

import argparse
import gzip
import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import conllu
import numpy as np

import esr
from esr.analysis import Analyzer, get
from esr.dependency.codec import decode, encode
from esr.dependency.occurrences import find_occurrences
from esr.documents import Document, Located, ParseWord, Sentence
from esr.engines.enrichment_run import run_enrichment
from esr.engines.factory import LoadOptions, open_writer
from esr.enrichment.enricher import Enricher
from esr.evaluation import measures
from esr.evaluation.significance import compare_systems
from esr.ranking.ranking import Ranking
from esr.ranking.ranking_signal import RankingSignal

ANALYZER = "english-stem"
Parse = tuple[ParseWord, ...]
RANKINGS = {
    "tfisf": Ranking("tfisf"),
    "2si both": Ranking("2si", "both"),
    "tdsr": Ranking("tdsr"),
    "tdsr, ties by tfisf": Ranking("tdsr", params={"ties": "score"}),
    "mrf_sdm, f_I tfisf": Ranking("mrf_sdm", params={"f_I": "tfisf"}),
    "mrf_fdm, f_I tfisf": Ranking("mrf_fdm", params={"f_I": "tfisf"}),
    "2si both, mrf_fdm": Ranking("2si", "both", rerank=(RankingSignal("mrf_fdm", {"w": 1.0}),)),
}


class Topic(NamedTuple):
    """A query and the one sentence that it is about."""

    id: str
    query: str
    relevant: str


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("treebanks", type=Path, nargs="+")
    options.add_argument("--work", type=Path, required=True)
    options.add_argument("--topics", type=int, default=1000)
    given = options.parse_args()
    documents = [document for path in given.treebanks for document in read(path)]
    places = indexes(documents, given.work)
    print(f"{len(documents)} documents, {sum(len(d.sentences) for d in documents)} sentences")
    _agreement(documents, places["parsed"])
    for kind in ("linked", "any"):
        topics = list(drawn(documents, kind == "linked", given.topics))
        print(f"\n{len(topics)} topics of {kind} words, AP\n")
        print("| ranking | gold trees | spaCy's | no syntax | spaCy's over gold | p | syntax over none | p |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for name, ranking in RANKINGS.items():
            found = {place: _values(where, topics, ranking) for place, where in places.items()}
            print(f"| {name} | " + " | ".join(_row(found)) + " |")


def _row(found: dict[str, dict[str, float]]) -> Iterator[str]:
    mean = {place: float(np.mean(list(values.values()))) for place, values in found.items()}
    for place in ("gold", "parsed", "chain"):
        yield f"{mean[place]:.4f}"
    for one, other in (("parsed", "gold"), ("parsed", "chain")):
        p = compare_systems(found[one], found[other], resamples=1).t_test
        yield f"{mean[one] / mean[other] - 1:+.1%}"
        yield "-" if p is None or np.isnan(p) else f"{p:.2g}"


def read(path: Path) -> Iterator[Document]:
    """The documents of a treebank, each sentence with its gold tree."""
    found: dict[str, list[Sentence]] = defaultdict(list)
    name = path.stem
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for tree in conllu.parse_incr(lines):
            name = tree.metadata.get("newdoc id", name)
            words = [token for token in tree if isinstance(token["id"], int)]
            parse = tuple(ParseWord(word["form"], word["head"] - 1) for word in words)
            text = tree.metadata["text"]
            found[name].append(Sentence(f"{name}.s{len(found[name])}", text, parse=parse))
    for name, sentences in found.items():
        yield Document(name, tuple(sentences))


def indexes(documents: list[Document], work: Path) -> dict[str, str]:
    """The same sentences with gold trees, with spaCy's, and with each word hanging on the one before."""
    places = {name: str(work / name) for name in ("gold", "parsed", "chain")}
    made = {
        "gold": documents,
        "parsed": [_with(document, lambda parse: None) for document in documents],
        "chain": [_with(document, _chain) for document in documents],
    }
    for name, where in places.items():
        if not Path(where).exists():
            located = (Located(f"{name}:{number}", document) for number, document in enumerate(made[name], 1))
            open_writer(where, LoadOptions(analyzer=ANALYZER)).load(located)
    with esr.open(places["parsed"]) as searcher:
        run_enrichment(searcher.index, Enricher(analyzer=ANALYZER), workers=2)
    return places


def _chain(parse: Parse) -> Parse:
    return tuple(ParseWord(word.word, place - 1) for place, word in enumerate(parse))


def _with(document: Document, change: Callable[[Parse], Parse | None]) -> Document:
    sentences = tuple(Sentence(s.id, s.text, parse=change(s.parse or ())) for s in document.sentences)
    return Document(document.id, sentences)


def drawn(documents: list[Document], linked: bool, number: int) -> Iterator[Topic]:
    """Two or three words of a sentence, and as many of another one."""
    chance = random.Random(7)
    analyzer = get(ANALYZER)
    pool = [s for document in documents for s in document.sentences if len(analyzer.terms(s.text)) >= 6]
    chance.shuffle(pool)
    count = 0
    for sentence, other in zip(pool, reversed(pool), strict=True):
        size = chance.choice((2, 3))
        own = _words(sentence, size, linked, chance, analyzer)
        foreign = _words(other, size, False, chance, analyzer)
        if (
            own
            and foreign
            and not set(analyzer.terms(" ".join(own))) & set(analyzer.terms(" ".join(foreign)))
        ):
            count += 1
            yield Topic(f"t{count}", " ".join([*own, *foreign]), sentence.id)
        if count == number:
            return


def _words(
    sentence: Sentence, size: int, linked: bool, chance: random.Random, analyzer: Analyzer
) -> list[str]:
    parse = sentence.parse or ()
    places = [n for n, word in enumerate(parse) if len(analyzer.terms(word.word)) == 1]
    if len(places) < size:
        return []
    if not linked:
        return [parse[n].word for n in sorted(chance.sample(places, size))]
    chosen = {chance.choice(places)}
    while len(chosen) < size:
        near = [
            n
            for n in places
            if n not in chosen and any(parse[n].head == m or parse[m].head == n for m in chosen)
        ]
        if not near:
            return []
        chosen.add(chance.choice(near))
    return [parse[n].word for n in sorted(chosen)]


def _values(where: str, topics: list[Topic], ranking: Ranking) -> dict[str, float]:
    with esr.open(where) as searcher:
        run = {}
        for topic in topics:
            hits = searcher.search(topic.query, 1000, ranking=ranking, records=False).hits
            run[topic.id] = {hit.sentence_id: hit.score for hit in hits}
    judged = {topic.id: {topic.relevant: 1} for topic in topics}
    return measures.evaluate(("AP",), judged, run)["AP"]


def _agreement(documents: list[Document], where: str) -> None:
    """How well spaCy's distances of two terms of a sentence, and its links, agree with the gold ones."""
    gold: list[int] = []
    found: list[int] = []
    with esr.open(where) as searcher:
        for document in documents:
            parses = searcher.index.parses([s.id for s in document.sentences])
            for sentence, blob in zip(document.sentences, parses, strict=True):
                terms = list(dict.fromkeys(searcher.index.analyzer.terms(sentence.text)))
                right = _distances(encode(sentence.parse or (), searcher.index.analyzer), terms)
                got = _distances(blob or b"", terms)
                both = right.keys() & got.keys()
                gold += [right[pair] for pair in both]
                found += [got[pair] for pair in both]
    a, b = np.array(gold), np.array(found)
    print(f"{len(a):,} pairs of terms. spaCy's distance: gold's {np.mean(a == b):.1%},", end=" ")
    print(f"within one {np.mean(abs(a - b) <= 1):.1%}, correlation {np.corrcoef(a, b)[0, 1]:.3f}")
    hit = int(np.sum((a == 1) & (b == 1)))
    precision, recall = hit / np.sum(b == 1), hit / np.sum(a == 1)
    print(f"linked terms: precision {precision:.1%}, recall {recall:.1%}")


def _distances(parse: bytes, terms: list[str]) -> dict[tuple[int, int], int]:
    """The least distance of each two terms that have one."""
    if not parse or len(terms) < 2:
        return {}
    at = find_occurrences(decode([parse]), terms)
    term = np.repeat(at.posting_terms, at.posting_counts)
    found: dict[tuple[int, int], int] = {}
    for i, j, distance in zip(term[at.pairs.i], term[at.pairs.j], at.pairs.distances, strict=True):
        if i != j and distance >= 0:
            found[i, j] = min(int(distance), found.get((i, j), distance))
    return found


if __name__ == "__main__":
    main()
