"""Both engines give the same answers: every model, context, prior, candidate rule and filter."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from esr import loaders, models
from esr.index.contract import read_document
from esr.index.filters import Filters
from esr.index.questions import EvidenceOf, Records, Summary
from esr.models.priors import PRIORS
from esr.plans.plan import CANDIDATES
from esr.ranking.explanation.explain import explain
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.dates import parse_date_start
from esr.text.document import Document, ParseWord, Quote, Sentence
from tests.support.elasticsearch import close, differences, fresh, load
from tests.support.pruning import check_pairs, half

ARTICLES = Path(__file__).resolve().parents[2] / "examples" / "articles.jsonl"
WORDS = [
    "bank",
    "fraud",
    "river",
    "flood",
    "relief",
    "minister",
    "vote",
    "the",
    "court",
    "rare",
    "stone",
    "İstanbul",
]
QUERIES = [
    "earthquake relief",
    "flood flood bank minister",
    "rare titleword unseenword",
    "court vote river stone",
]
PARAGRAPHS = [1, 300, 2**29 - 1]
SPLITS = [(m.name, c) for m in models.MODELS.values() for c in (m.contexts or (None,))]
FIRST_STAGES = [split for split in SPLITS if models.get(split[0]).second_stage is None]
PRIORS: list[dict[str, float]] = [
    {},
    *({name: 1.0} for name in PRIORS),
    {"importance": 0.3, "length": -2.0},
]
FILTERS = [
    Filters(),
    # Both are dates of documents.
    Filters(date_from=parse_date_start("2025-04-13"), date_to=parse_date_start("2025-06-15")),
    Filters(date_from=parse_date_start("2025-06-16")),
    Filters(sources=("Northern Wire", "random")),
    Filters(documents=("r1", "r2", "r3", "r8", "earthquake-relief")),
]


class Engines(NamedTuple):
    """The same documents in both engines."""

    embedded: Searcher
    elasticsearch: Searcher


AUTHORS = ((), ("Jane Doe",), ("JANE DOE", "Olaf Größe"), ())
SECTIONS = (None, "Sport", "sport", "World: Asia", None)
KEYWORDS = ("brexit", "bank", "Klima", "日本")
METADATA: tuple[dict[str, Any], ...] = (
    {},
    {"desk": "Berlin", "rank": 3},
    {"Desk": "BERLIN", "a": {"b": [1.5, True, None, {"c": "deep  value"}], "": "no key"}},
    {},
    {"desk": ["Bonn", "Berlin"], "long": "x" * 40_000, "odd\x00key.. ": "v\x00 w", ".": "dot"},
    {"empty": [], "": "blank", "url": "https://x.example/?q=a b"},
)


def random_documents(first: int, count: int, seed: int) -> Iterator[Document]:
    """Documents with all that is unusual: no sentence, one, empty ones, a term a hundred times, no title."""
    rng = random.Random(seed)
    for number in range(first, first + count):
        size = [0, 1, 1, 2, 5, 9][number % 6]
        texts = [" ".join(rng.choices(WORDS, k=rng.randrange(0, 14))) for _ in range(size)]
        if size == 5:
            texts[0], texts[2], texts[3] = "flood " * 100, "", "The ... of!"
        if size == 9:
            texts[4] = "Rare: " + "bank " * 70 + "vote"
        yield Document(
            f"r{number}",
            tuple(
                Sentence(
                    f"r{number}/{n}",
                    text,
                    {"subj": n / 3} if n % 2 else {},
                    _parse(text) if n == 1 else None,
                    None if number % 4 == 1 or n == 4 else n // 2 * PARAGRAPHS[number % 3],
                    (Quote(0, 1 + len(text) // 2, "Ann Bee", "ann bee"),) if n == 3 and text else (),
                )
                for n, text in enumerate(texts)
            ),
            title="Titleword flood" if number % 3 == 0 else None,
            date=f"2025-0{number % 9 + 1}-1{number % 10}" if number % 4 else None,
            source="random" if number % 2 else None,
            url=f"https://random.example/{number}" if number % 5 == 0 else None,
            language="en" if number % 2 else None,
            authors=AUTHORS[number % 4],
            section=SECTIONS[number % 5],
            keywords=tuple(rng.sample(KEYWORDS, number % 3)),
            metadata=METADATA[number % 6],
        )


def _parse(text: str) -> tuple[ParseWord, ...]:
    return tuple(ParseWord(word, n - 1) for n, word in enumerate(text.split()))


def corpus() -> list[Document]:
    articles = [located.document for located in loaders.read_documents([str(ARTICLES)], "auto")]
    return [*articles, *random_documents(0, 60, seed=1)]


@pytest.fixture(autouse=True)
def pruning(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make both engines prune even in a small collection."""
    monkeypatch.setattr("esr.elastic.search.pruned_search.FEW_CANDIDATES", 0)
    monkeypatch.setattr("esr.elastic.search.pruned_search.FIRST_DOCUMENTS", 5)


SHARDS = [1, 3]


@pytest.fixture(scope="module", params=SHARDS, ids=["1-shard", "3-shards"])
def engines(
    request: pytest.FixtureRequest, elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engines]:
    folder = str(tmp_path_factory.mktemp("parity") / "index")
    load(folder, corpus())
    with fresh(elasticsearch_url) as where:
        load(where, corpus(), shards=request.param)
        with open_searcher(folder) as embedded, open_searcher(where) as elasticsearch:
            yield Engines(embedded, elasticsearch)


def compare_answers(engines: Engines, query: str, filters: Filters, k: int, **ranking: Any) -> list[str]:
    """The differences between the engines' answers to one query."""
    expected = engines.embedded.search(query, 100_000, filters=filters, records=False, **ranking)
    actual = engines.elasticsearch.search(query, k, filters=filters, records=False, **ranking)
    problems = differences(expected.hits, actual.hits, k)
    if (expected.total, expected.unseen, expected.incomplete) != (
        actual.total,
        actual.unseen,
        actual.incomplete,
    ):
        problems.append(
            f"{expected.total, expected.unseen} against {actual.total, actual.unseen, actual.incomplete}"
        )
    return [f"{query!r} {ranking} {filters}: {problem}" for problem in problems]


def pairwise_cases(number: int) -> Iterator[tuple[dict[str, float], str, str, Filters]]:
    """Priors, rules, queries and filters for the model of this number.

    Each model has every pair of a prior with a query, and of each with a rule. Other models have them with
    another rule and filter.
    """
    rules = sorted(CANDIDATES)
    for (p, prior), (q, query) in product(enumerate(PRIORS), enumerate(QUERIES)):
        filters = FILTERS[(p + 2 * q + number) % len(FILTERS)]
        yield prior, rules[(p + q + number) % len(rules)], query, filters


def test_the_cases_have_every_pair_of_values() -> None:
    """A fault that needs two of them shows, and over the models one of prior, rule and query."""
    numbers, sizes = range(len(SPLITS)), [len(PRIORS), len(CANDIDATES), len(QUERIES), len(FILTERS)]
    check_pairs([list(pairwise_cases(number)) for number in numbers], sizes)
    check_pairs([[c for n in numbers for c in cases_of_shards(n, shards)] for shards in SHARDS], sizes)


def cases_of_shards(number: int, shards: int) -> list[tuple[dict[str, float], str, str, Filters]]:
    """The half of a model's cases that are for this number of shards."""
    return half(pairwise_cases(number), len(QUERIES), number, SHARDS.index(shards))


@pytest.mark.parametrize("model, context", SPLITS)
def test_both_engines_give_the_same_answers(
    request: pytest.FixtureRequest, engines: Engines, model: str, context: str | None
) -> None:
    cases = cases_of_shards(SPLITS.index((model, context)), request.node.callspec.params["engines"])
    problems = [
        problem
        for prior, rule, query, filters in cases
        for problem in compare_answers(
            engines, query, filters, 500, model=model, context=context, priors=prior, candidates=rule
        )
    ]
    assert not problems, "\n".join(problems[:10])


@pytest.mark.parametrize(
    "ranking",
    [
        {"model": "2si", "params": {"background": "documents", "mu": 3000, "lambda": 0.7}},
        {"model": "2si", "params": {"lambda": 0, "nu": 0}},
        {"model": "2si", "params": {"mu": 1e-3}},
        {"model": "3mm", "params": {"lambda": 0.05}},
        {"model": "bm25", "params": {"k1": 0.001, "b": 1}},
        {"model": "tfisf", "params": {"idf": "document"}},
    ],
    ids=str,
)
def test_parameters_mean_the_same_to_both(engines: Engines, ranking: dict[str, Any]) -> None:
    problems = [p for query in QUERIES for p in compare_answers(engines, query, Filters(), 500, **ranking)]
    assert not problems, "\n".join(problems[:10])


def test_five_hundred_queries_have_the_same_sentences_in_the_same_order(engines: Engines) -> None:
    rng = random.Random(500)
    articles = [d for d in corpus() if d.title and d.sentences]
    queries: dict[str, None] = {}
    while len(queries) < 500:
        article = rng.choice(articles)
        known = f"{article.title} {rng.choice(article.sentences).text}".split()
        words = re.findall(r"\w+", " ".join(rng.choices([*known, *WORDS], k=rng.randint(1, 5))))
        if engines.embedded.index.analyzer.terms(" ".join(words)):
            queries[" ".join(words)] = None
    problems = [p for query in queries for p in compare_answers(engines, query, Filters(), 10)]
    assert not problems, "\n".join(problems[:10])


def test_both_engines_have_the_same_statistics(engines: Engines) -> None:
    terms = [*engines.embedded.terms(" ".join(QUERIES)), "bank", "titleword", "unseenword"]
    expected = engines.embedded.index.statistics(terms)
    actual = engines.elasticsearch.index.statistics(terms)
    assert actual.terms == expected.terms
    assert expected.terms["flood"].cf > 1000
    for name in expected.collection.__struct_fields__:
        if name != "bounds":
            assert getattr(actual.collection, name) == getattr(expected.collection, name), name


def test_both_engines_give_back_what_was_loaded(engines: Engines) -> None:
    """Both give back what was loaded: ids, features, parses, neighbours, everything."""
    for document in corpus():
        assert read_document(engines.elasticsearch.index, document.id) == document
        assert read_document(engines.embedded.index, document.id) == document
        ids = [sentence.id for sentence in document.sentences][::-1]
        records = engines.elasticsearch.index.read(ids, Records())
        assert records == engines.embedded.index.read(ids, Records())
        assert [record.sentence_id for record in records] == ids


def test_records_of_hits_are_the_same_on_both(engines: Engines) -> None:
    hits = engines.elasticsearch.search("flood court", 20).hits
    ids = [hit.sentence_id for hit in hits]
    assert [hit.record for hit in hits] == engines.embedded.index.read(ids, Records())


def test_evidence_is_the_same_on_both(engines: Engines) -> None:
    terms = ["flood", "bank", "titleword"]
    ids = [sentence.id for document in corpus() for sentence in document.sentences]
    expected, actual = (searcher.index.read(ids, EvidenceOf(terms)) for searcher in engines)
    for name in expected.counts:
        np.testing.assert_array_equal(actual.counts[name], expected.counts[name], name)
    for name in expected.lengths:
        np.testing.assert_array_equal(actual.lengths[name], expected.lengths[name], name)
    for column in actual.columns:
        np.testing.assert_allclose(actual.columns[column], expected.columns[column], err_msg=column)
    assert expected.counts["sentence"].max() == 100


@pytest.mark.parametrize("model, context", FIRST_STAGES)
def test_explanations_are_the_same_and_add_up_to_the_score(
    engines: Engines, model: str, context: str | None
) -> None:
    """The parts are the same and add up to the score that the search gives."""
    ranking = Ranking(model, context, priors={"importance": 0.5, "length": 1.0})
    query = "flood bank titleword unseenword"
    hits = engines.elasticsearch.search(query, 3, ranking=ranking).hits
    assert hits
    for hit in hits:
        expected, actual = (
            explain(searcher.prepare(query, ranking), hit.sentence_id) for searcher in engines
        )
        assert close(actual.score, hit.score)
        assert actual.unseen == expected.unseen == ("unseenword",)
        assert [(t.origin, t.probability, t.weight) for t in actual.terms] == [
            (t.origin, t.probability, t.weight) for t in expected.terms
        ]
        for mine, theirs in zip(actual.terms, expected.terms, strict=True):
            assert mine.adds == pytest.approx(theirs.adds, rel=1e-9)
            assert [f.origin for f in mine.fields] == [f.origin for f in theirs.fields]
        total = sum(t.adds for t in actual.terms) + actual.length + sum(p.adds for p in actual.priors)
        assert total == pytest.approx(actual.score, rel=1e-9)


def test_two_loads_rank_as_one_collection(elasticsearch_url: str, tmp_path: Path) -> None:
    """An appended load is an index of its own behind the alias: the scores are those of one collection.

    Stored priors are left out: those of the first load were computed when the second was not there.
    """
    first, second = corpus(), list(random_documents(60, 40, seed=2))
    folder = str(tmp_path / "index")
    load(folder, first)
    load(folder, second, if_exists="append")
    with fresh(elasticsearch_url) as where:
        load(where, first, shards=2)
        report = load(where, [*first[:5], *second], if_exists="append")
        assert (report.unchanged, report.documents) == (5, 45)
        with open_searcher(folder) as embedded, open_searcher(where) as elasticsearch:
            engines = Engines(embedded, elasticsearch)
            assert elasticsearch.index.status(Summary())["loads"] == 2
            test_both_engines_have_the_same_statistics(engines)
            problems = [
                problem
                for (model, context), query in product(SPLITS, QUERIES)
                for problem in compare_answers(engines, query, Filters(), 500, model=model, context=context)
            ]
    assert not problems, "\n".join(problems[:10])
