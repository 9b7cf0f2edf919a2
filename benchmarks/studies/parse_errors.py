"""The effect of parser errors on rankings with term dependence.

    python benchmarks/studies/parse_errors.py GOLD.conllu.gz... --work FOLDER [--topics 1000]

The sentences of treebanks are loaded twice: with their gold trees, and enriched by spaCy. Topics are
generated from the sentences: half of a topic's words come from its only relevant sentence, half from another.
`linked`: the words of the relevant sentence are linked in its gold tree, as in a query that relates them;
`any`: they are drawn at random. A third index has no syntax: each word is attached to the previous one.
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

from esr.dependency.occurrences import find_occurrences
from esr.dependency.parses import decode, encode
from esr.enrichment.enricher import Enricher
from esr.index.factory import open_writer
from esr.index.questions import Parses
from esr.index.runs.enrichment_run import run_enrichment
from esr.index.writer import LoadOptions
from esr.lab import measures
from esr.lab.significance import compare_systems
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import open_searcher
from esr.ranking.second_stage.signals import RankingSignal
from esr.text.analyzer import Analyzer, get_analyzer
from esr.text.document import Document, Located, ParseWord, Sentence

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
    """A query and its only relevant sentence."""

    id: str
    query: str
    relevant: str


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("treebanks", type=Path, nargs="+")
    options.add_argument("--work", type=Path, required=True)
    options.add_argument("--topics", type=int, default=1000)
    arguments = options.parse_args()
    documents = [document for path in arguments.treebanks for document in read_treebank(path)]
    indexes = build_indexes(documents, arguments.work)
    print(f"{len(documents)} documents, {sum(len(d.sentences) for d in documents)} sentences")
    _print_agreement(documents, indexes["parsed"])
    for kind in ("linked", "any"):
        topics = list(generate_topics(documents, arguments.topics, linked=kind == "linked"))
        print(f"\n{len(topics)} topics of {kind} words, AP\n")
        print("| ranking | gold trees | spaCy's | no syntax | spaCy's over gold | p | syntax over none | p |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for name, ranking in RANKINGS.items():
            values = {trees: _evaluate(index, topics, ranking) for trees, index in indexes.items()}
            print(f"| {name} | " + " | ".join(_row(values)) + " |")


def _row(values: dict[str, dict[str, float]]) -> Iterator[str]:
    means = {trees: float(np.mean(list(by_topic.values()))) for trees, by_topic in values.items()}
    for trees in ("gold", "parsed", "chain"):
        yield f"{means[trees]:.4f}"
    for other in ("gold", "chain"):
        p = compare_systems(values["parsed"], values[other], resamples=1).t_test
        yield f"{means['parsed'] / means[other] - 1:+.1%}"
        yield "-" if np.isnan(p) else f"{p:.2g}"


def read_treebank(path: Path) -> Iterator[Document]:
    """The documents of a treebank, each sentence with its gold tree."""
    sentences: dict[str, list[Sentence]] = defaultdict(list)
    name = path.stem
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for tree in conllu.parse_incr(lines):
            name = tree.metadata.get("newdoc id", name)
            words = [token for token in tree if isinstance(token["id"], int)]
            parse = tuple(ParseWord(word["form"], word["head"] - 1) for word in words)
            text = tree.metadata["text"]
            sentences[name].append(Sentence(f"{name}.s{len(sentences[name])}", text, parse=parse))
    for name, of_document in sentences.items():
        yield Document(name, tuple(of_document))


def build_indexes(documents: list[Document], work: Path) -> dict[str, str]:
    """Indexes of the same sentences with gold trees, with spaCy's, and with chains of words as trees."""
    indexes = {name: str(work / name) for name in ("gold", "parsed", "chain")}
    versions = {
        "gold": documents,
        "parsed": [_replace_parses(document, lambda parse: None) for document in documents],
        "chain": [_replace_parses(document, _chain) for document in documents],
    }
    for name, index in indexes.items():
        if not Path(index).exists():
            located = (
                Located(f"{name}:{number}", document) for number, document in enumerate(versions[name], 1)
            )
            open_writer(index, LoadOptions(analyzer=ANALYZER)).load(located)
    with open_searcher(indexes["parsed"]) as searcher:
        run_enrichment(searcher.index, Enricher(analyzer=ANALYZER), workers=2)
    return indexes


def _chain(parse: Parse) -> Parse:
    return tuple(ParseWord(word.word, position - 1) for position, word in enumerate(parse))


def _replace_parses(document: Document, change: Callable[[Parse], Parse | None]) -> Document:
    sentences = tuple(Sentence(s.id, s.text, parse=change(s.parse or ())) for s in document.sentences)
    return Document(document.id, sentences)


def generate_topics(documents: list[Document], number: int, *, linked: bool) -> Iterator[Topic]:
    """Topics of two or three words of a sentence and as many of another one."""
    rng = random.Random(7)
    analyzer = get_analyzer(ANALYZER)
    sentences = [s for document in documents for s in document.sentences if len(analyzer.terms(s.text)) >= 6]
    rng.shuffle(sentences)
    count = 0
    for sentence, other in zip(sentences, reversed(sentences), strict=True):
        size = rng.choice((2, 3))
        own = _sample_words(sentence, size, linked, rng, analyzer)
        foreign = _sample_words(other, size, False, rng, analyzer)
        if (
            own
            and foreign
            and not set(analyzer.terms(" ".join(own))) & set(analyzer.terms(" ".join(foreign)))
        ):
            count += 1
            yield Topic(f"t{count}", " ".join([*own, *foreign]), sentence.id)
        if count == number:
            return


def _sample_words(
    sentence: Sentence, size: int, linked: bool, rng: random.Random, analyzer: Analyzer
) -> list[str]:
    parse = sentence.parse or ()
    positions = [n for n, word in enumerate(parse) if len(analyzer.terms(word.word)) == 1]
    if len(positions) < size:
        return []
    if not linked:
        return [parse[n].word for n in sorted(rng.sample(positions, size))]
    subtree = {rng.choice(positions)}
    while len(subtree) < size:
        linked_positions = [
            n
            for n in positions
            if n not in subtree and any(parse[n].head == m or parse[m].head == n for m in subtree)
        ]
        if not linked_positions:
            return []
        subtree.add(rng.choice(linked_positions))
    return [parse[n].word for n in sorted(subtree)]


def _evaluate(index: str, topics: list[Topic], ranking: Ranking) -> dict[str, float]:
    with open_searcher(index) as searcher:
        run = {}
        for topic in topics:
            hits = searcher.search(topic.query, 1000, ranking=ranking, records=False, literal=True).hits
            run[topic.id] = {hit.sentence_id: hit.score for hit in hits}
    judgements = {topic.id: {topic.relevant: 1} for topic in topics}
    return measures.evaluate(("AP",), judgements, run)["AP"]


def _print_agreement(documents: list[Document], index: str) -> None:
    """Print the agreement of spaCy's distances and links between terms of a sentence with the gold ones."""
    gold_distances: list[int] = []
    parsed_distances: list[int] = []
    with open_searcher(index) as searcher:
        for document in documents:
            parses = searcher.index.read([s.id for s in document.sentences], Parses())
            for sentence, blob in zip(document.sentences, parses, strict=True):
                terms = list(dict.fromkeys(searcher.index.analyzer.terms(sentence.text)))
                gold = _distances(encode(sentence.parse or (), searcher.index.analyzer), terms)
                parsed = _distances(blob or b"", terms)
                both = gold.keys() & parsed.keys()
                gold_distances += [gold[pair] for pair in both]
                parsed_distances += [parsed[pair] for pair in both]
    a, b = np.array(gold_distances), np.array(parsed_distances)
    print(f"{len(a):,} pairs of terms. spaCy's distance: gold's {np.mean(a == b):.1%},", end=" ")
    print(f"within one {np.mean(abs(a - b) <= 1):.1%}, correlation {np.corrcoef(a, b)[0, 1]:.3f}")
    links = int(np.sum((a == 1) & (b == 1)))
    precision, recall = links / np.sum(b == 1), links / np.sum(a == 1)
    print(f"linked terms: precision {precision:.1%}, recall {recall:.1%}")


def _distances(parse: bytes, terms: list[str]) -> dict[tuple[int, int], int]:
    """The least distance of each pair of terms that has one."""
    if not parse or len(terms) < 2:
        return {}
    occurrences = find_occurrences(decode([parse]), terms)
    terms_of = np.repeat(occurrences.posting_terms, occurrences.posting_counts)
    pairs = occurrences.pairs
    least: dict[tuple[int, int], int] = {}
    for i, j, distance in zip(terms_of[pairs.i], terms_of[pairs.j], pairs.distances, strict=True):
        if i != j and distance >= 0:
            least[i, j] = min(int(distance), least.get((i, j), distance))
    return least


if __name__ == "__main__":
    main()
