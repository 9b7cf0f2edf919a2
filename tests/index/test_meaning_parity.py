"""Both engines rank by words and meaning in the same way, with the same vectors."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner

import esr
from esr import loaders
from esr.cli import main
from esr.elastic import statistics, vectors
from esr.elastic.cluster import Cluster
from esr.elastic.search import sentence_search
from esr.enrichment.enricher import Enricher, VectorSettings
from esr.index.factory import open_delivery
from esr.index.filters import NO_FILTERS, Filters
from esr.index.hits import Hit
from esr.index.questions import NearestIsExact, Summary, TermsWithPrefix
from esr.index.writer import LoadOptions
from esr.plans.plan import CANDIDATES
from esr.ranking.explanation.explain import explain
from esr.ranking.ranking import Ranking
from esr.ranking.requests import raw_request
from esr.ranking.searcher import open_searcher
from esr.ranking.second_stage.query_encoder import encode_query
from esr.text.analyzer_definitions import analyzer_for_language
from esr.text.document import Document
from esr.text.validate import build_document
from tests.index.test_parity import SPLITS, Engines, compare_answers
from tests.support.elasticsearch import differences, fresh, http, load, located, record_requests
from tests.support.elasticsearch import document as bare_document
from tests.support.fake_enricher import SYNONYMS, VOCABULARY, write_tiny_cross_encoder, write_tiny_encoder
from tests.support.folder_index import ODD, WORDS, boost_corpus
from tests.support.runs import SHARDS, only_long
from tests.support.texts import made_up_words, spoilt_texts
from webui.app import create_app
from webui.running.settings import Settings

QUERIES = (
    "storm in the city",
    "earthquake relief china",
    "bank",
    "river flood flood town",
    "hurricane",
    "nothing gale",
    "where is the storm in the city?",
    "the storm that is in the city has a river flood",
)
SHARES: Sequence[Mapping[str, float | str]] = (
    {},
    {"nu": 0.3},
    {"nu": 0.1, "lambda": 0.2},
    {"empty": 0.6, "feedback": 0.4},
    {"nu": 0.2, "feedback": 1.0},
    {"kinds": "yes"},
)
DEPTH = 40
"""Fewer than match, so that the window has a border."""


def make_documents(first: int, count: int, seed: int) -> list[Document]:
    draw = random.Random(seed)
    words = [*(word for word in VOCABULARY if word not in SYNONYMS), "stoneword", "mayor"]
    return [
        bare_document(
            f"d{number}",
            *(" ".join(draw.choices(words, k=draw.randint(1, 6))) for _ in range(draw.randint(0, 5))),
            **({"title": draw.choice(words)} if number % 3 else {}),
        )
        for number in range(first, first + count)
    ]


FIRST, MORE = make_documents(0, 60, seed=1), make_documents(60, 15, seed=2)
HALF = [document.id for document in FIRST[::2]]
CHANGED = make_documents(5, 3, seed=3)


def enrich(where: str, encoder: str, documents: Collection[str] | None = None) -> None:
    """Store the vectors of these documents, or of all that lack them."""
    enricher = Enricher(["vectors"], vectors=VectorSettings(encoder, 0.5))
    with open_searcher(where) as searcher, searcher.index.enrichment() as enrichment:
        pending = list(enrichment.pending(enricher.recipe))
        batch = [(d.id, enricher.enrich(d)) for d in pending if documents is None or d.id in documents]
        enrichment.store(enricher.recipe, batch)
        enrichment.finish(enricher.recipe)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        folder = str(write_tiny_encoder(tmp_path_factory.mktemp("encoder") / "tiny", 24))
        patch.setenv("ESR_ENCODER", folder)
        cross = write_tiny_cross_encoder(tmp_path_factory.mktemp("cross") / "tiny")
        patch.setenv("ESR_CROSS_ENCODER", str(cross))
        yield folder


def compare(places: tuple[str, str]) -> list[int | None]:
    """How many sentences lacked a vector, for each ranking and query. Fails where the engines differ."""
    missing = []
    with open_searcher(places[0]) as exact, open_searcher(places[1]) as other:
        for query, k in product(QUERIES, (1, 7, 40)):
            encoder, vector = encode_query(exact.index, query)
            right, got = (s.index.nearest(encoder, vector, k, None, NO_FILTERS) for s in (exact, other))
            assert [hit[:2] for hit in got] == [hit[:2] for hit in right], "to the last bit"
            assert len(got) == k
        for shares in SHARES:
            signal = {"signal": "meaning", "w": 8, **shares}
            ranking = Ranking.from_dict({"depth": DEPTH, "rerank": [signal]})
            for query in QUERIES:
                prepared = [searcher.prepare(query, ranking) for searcher in (exact, other)]
                by_exact, by_other = (each.search(100) for each in prepared)
                assert not differences(by_exact.hits, by_other.hits, 100), (shares, query)
                assert by_exact.without_vector == by_other.without_vector
                assert by_exact.total == by_other.total
                missing.append(by_other.without_vector)
                ids = [hit.sentence_id for hit in by_other.hits[:3]]
                for id in ids:
                    one, two = (explain(each, id).second for each in prepared)
                    assert one is not None and two is not None
                    assert two.signals[0].value == one.signals[0].value, "products are exact"
                    assert two.signals[0].parts == one.signals[0].parts
        for query in QUERIES:
            signals = [{"signal": "meaning", "w": 8}, {"signal": "cross", "w": 0.2, "depth": 20}]
            ranking = Ranking.from_dict({"depth": DEPTH, "rerank": signals})
            by_exact, by_other = (each.search(query, 100, ranking=ranking) for each in (exact, other))
            assert not differences(by_exact.hits, by_other.hits, 100), query
    return missing


def check_request(where: str) -> None:
    """The request that `esr query` prints ranks what words find as esr does, without esr."""
    signal = {"signal": "meaning", "w": 8, "empty": 0.6, "feedback": 0.4}
    ranking = Ranking.from_dict({"depth": DEPTH, "rerank": [signal]})
    with open_searcher(where) as searcher:
        for query in QUERIES[:4]:
            prepared = searcher.prepare(query, ranking)
            by_words = {hit.sentence_id for hit in searcher.search(query, DEPTH).hits}
            own = [hit.sentence_id for hit in prepared.search(200).hits if hit.sentence_id in by_words]
            body = raw_request(prepared, 20, filters=Filters())
            answer = http("POST", f"{where}/_search", body)
            assert [hit["_id"] for hit in answer["hits"]["hits"]][:10] == own[:10]
    printed = CliRunner().invoke(main, ["query", "bank", "--index", where, "--rerank", "meaning:8"])
    assert "the request lacks what only vectors find" in printed.stderr


@pytest.mark.parametrize("shards", [pytest.param(1, marks=[pytest.mark.endurance, only_long]), 3])
def test_both_engines_give_the_same_answers_through_the_life_of_an_index(
    tmp_path: Path, elasticsearch_url: str, encoder: str, shards: int
) -> None:
    with fresh(elasticsearch_url) as where:
        places = (str(tmp_path / "index"), where)
        for place in places:
            load(place, FIRST, **({"shards": shards} if place == where else {}))
            enrich(place, encoder, HALF)
        half = compare(places)
        assert any(half), "some sentences have no vector"
        if shards == 1:
            check_request(where)
        for place in places:
            enrich(place, encoder)
        assert not any(compare(places))
        for place in places:
            open_delivery(place, LoadOptions()).append(located([*MORE, *CHANGED]))
            open_delivery(place, LoadOptions()).remove([d.id for d in FIRST[10:20]])
        assert any(compare(places)), "new sentences have no vector yet"
        for place in places:
            enrich(place, encoder)
        assert not any(compare(places))
        with closing(Cluster(where)) as cluster:
            has_vectors = cluster.dialect.has_vectors
        if has_vectors:
            check_vector_index(places)


def test_a_page_by_meaning_asks_a_server_few_times(
    elasticsearch_url: str, encoder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (sentence_search, statistics, vectors):
        monkeypatch.setattr(module, "MAX_AGE", 3600.0)  # facts are read once, even if the node is slow
    page = "/search?q=river+flood+bank&rerank=meaning:25:feedback=.4"
    with fresh(elasticsearch_url) as where:
        load(where, FIRST)
        enrich(where, encoder)
        with open_searcher(where) as searcher:
            client = create_app(searcher, Settings(access_log=0)).test_client()
            client.get(page)  # statistics are read once
            requests = record_requests(monkeypatch)
            answer = client.get(page)
            assert answer.status_code == 200 and answer.text.count("data-sentence-id") > 3
            assert len(requests) <= 14, requests


def check_vector_index(places: tuple[str, str]) -> None:
    """An index of vectors finds all of so few; whoever asks is told of it."""
    for place, note in zip(
        places, ("needs no index of vectors", "building the index of vectors"), strict=True
    ):
        with open_searcher(place) as searcher, searcher.index.enrichment() as enrichment:
            assert "vector_index" not in searcher.index.status(Summary())
            (said,) = enrichment.index_vectors()
            assert note in said
            assert enrichment.index_vectors() == [said], "asked again, it stays"
    assert not any(compare(places))
    for place, is_exact in zip(places, (True, False), strict=True):
        with open_searcher(place) as searcher:
            assert searcher.index.status(NearestIsExact()) == is_exact
            assert searcher.index.status(Summary()).get("vector_index") == (None if is_exact else "hnsw")
            prepared = searcher.prepare("bank", Ranking.from_dict({"rerank": [{"signal": "meaning"}]}))
            explanation = explain(prepared, prepared.search(1).hits[0].sentence_id)
            assert ("which may miss a few of them" in str(explanation)) != is_exact


# Both engines boost alike: the same variants, the same feedback, the same steps, the same scores.


BOOSTS = [
    {"answer_type": 0.7},
    {"variants": 0.3},
    {"feedback": {"w": 0.5, "sentences": 3, "terms": 4}},
    {"answer_type": 0.5, "variants": 0.2, "feedback": 0.2},
]
BOOST_PARITY_QUERIES = ["who stops migrated", "how many courts vote", "court migrants court banker"]


@pytest.fixture(scope="module", params=SHARDS, ids="{} shards".format)
def engines(
    request: pytest.FixtureRequest, elasticsearch_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engines]:
    folder = str(tmp_path_factory.mktemp("boosts") / "index")
    with fresh(elasticsearch_url) as where:
        for location, options in ((folder, {}), (where, {"shards": request.param})):
            load(location, boost_corpus(0, 30), analyzer="plain", **options)
            load(location, boost_corpus(100, 10), if_exists="append")
        with open_searcher(folder) as embedded, open_searcher(where) as elasticsearch:
            yield Engines(embedded, elasticsearch)


def test_both_have_the_same_terms_that_begin_so(engines: Engines) -> None:
    all_terms = {
        term for word in [*WORDS, *ODD, "migrational"] for term in engines.embedded.index.analyzer.terms(word)
    }
    checked_terms = 0
    for prefix in ("", "m", "migr", "bank", "x", "i", "𐐷", "𐐷𐐷𐐷𐐷𐐷", "ÿÿ", "ﬀ", "a b", "1990", "*", "("):
        for limit in (1, 2, 3, 100):
            expected = sorted(term for term in all_terms if term.startswith(prefix))
            if prefix:  # all terms are more than those above
                assert engines.embedded.index.vocabulary(TermsWithPrefix(prefix, limit)) == expected[:limit]
                checked_terms += len(expected)
            assert engines.elasticsearch.index.vocabulary(
                TermsWithPrefix(prefix, limit)
            ) == engines.embedded.index.vocabulary(TermsWithPrefix(prefix, limit))
    assert checked_terms > 50


@pytest.mark.parametrize("boosts", BOOSTS, ids=lambda names: "+".join(names))
def test_both_make_the_same_plans(engines: Engines, boosts: dict[str, object]) -> None:
    for query in BOOST_PARITY_QUERIES:
        embedded_plan, elasticsearch_plan = (
            s.prepare(query, Ranking.from_dict({"boosts": boosts})).plan for s in engines
        )
        assert [term.term for term in elasticsearch_plan.terms] == [term.term for term in embedded_plan.terms]
        assert [term.weight for term in elasticsearch_plan.terms] == pytest.approx(
            [term.weight for term in embedded_plan.terms]
        )
        assert elasticsearch_plan.static_scores == embedded_plan.static_scores
        assert embedded_plan != engines.embedded.prepare(query, Ranking()).plan or list(boosts) == [
            "answer_type"
        ]


@pytest.mark.parametrize("boosts", BOOSTS, ids=lambda names: "+".join(names))
def test_both_give_the_same_answers(engines: Engines, boosts: dict[str, object]) -> None:
    problems = [
        problem
        for model, context in SPLITS
        for query, rule in zip(BOOST_PARITY_QUERIES, CANDIDATES, strict=True)
        for filters in (Filters(), Filters(documents=("d1", "d2", "d3")))
        for problem in compare_answers(
            engines, query, filters, 500, model=model, context=context, candidates=rule, boosts=boosts
        )
    ]
    assert not problems, "\n".join(problems[:10])


def test_boosts_features_and_a_second_stage_go_together(engines: Engines) -> None:
    ranking = Ranking.from_dict(
        {
            "boosts": BOOSTS[-1],
            "features": [{"feature": "position", "form": "log", "w": -0.3}],
            "rerank": [{"signal": "tdsr", "w": 0.5}],
            "depth": 20,
        }
    )
    for query in BOOST_PARITY_QUERIES:
        embedded_hits, elasticsearch_hits = (
            searcher.search(query, 30, ranking=ranking).hits for searcher in engines
        )
        assert [hit.sentence_id for hit in elasticsearch_hits] == [hit.sentence_id for hit in embedded_hits]
        assert [hit.score for hit in elasticsearch_hits] == pytest.approx(
            [hit.score for hit in embedded_hits], rel=1e-5
        )
        for hit in embedded_hits[:3]:
            first, second = (
                explain(searcher.prepare(query, ranking), hit.sentence_id) for searcher in engines
            )
            assert first.score == pytest.approx(hit.score)
            assert second.boosted == pytest.approx(first.boosted)
            assert set(first.boosted) >= {"variants", "feedback"}
            assert [part.boosts for part in second.terms] == [
                pytest.approx(part.boosts) for part in first.terms
            ]


# Both engines give the same answers in every language, and for text that nobody should have written.


XQUAD = Path(__file__).resolve().parents[3] / "shared" / "collections" / "xquad-dev"
K = 100


def differing_answers(
    url: str, folder: Path, documents: list[Document], analyzer: str, queries: list[str]
) -> Iterator[str]:
    """Each query whose best K sentences are not the same on both engines."""
    load(str(folder), documents, analyzer=analyzer)
    with fresh(url) as where:
        load(where, documents, analyzer=analyzer)
        with open_searcher(where) as on_cluster, open_searcher(str(folder)) as on_disk:
            compared = 0
            for query in queries:
                if not on_disk.index.analyzer.terms(query):
                    continue
                exact = hits(on_disk, query, K + 20)
                compared += bool(exact)
                wrong = differences(exact, hits(on_cluster, query, K), K)
                if wrong:
                    yield f"{query!r}: {wrong[0]}"
            assert compared > len(queries) // 2


def hits(searcher: esr.ranking.searcher.Searcher, query: str, k: int) -> list[Hit]:
    return list(searcher.search(query, k, records=False).hits)


@pytest.mark.parametrize(
    "analyzer",
    ["multilingual", *(pytest.param(n, marks=pytest.mark.endurance) for n in ("german", "hindi", "turkish"))],
)
def test_both_engines_find_the_same_in_made_up_text_of_a_language(
    elasticsearch_url: str, tmp_path: Path, analyzer: str
) -> None:
    rng = random.Random(analyzer)
    words = " ".join(made_up_words(analyzer, 400)).split()
    documents = [
        bare_document(f"d{n}", *(" ".join(rng.choices(words, k=rng.randint(1, 12))) for _ in range(4)))
        for n in range(40)
    ]
    queries = [" ".join(rng.sample(words, 3)) for _ in range(25)]
    assert not list(differing_answers(elasticsearch_url, tmp_path / "index", documents, analyzer, queries))


def test_both_engines_find_the_same_in_spoilt_text(elasticsearch_url: str, tmp_path: Path) -> None:
    """Bidi marks, joiners, selectors, emoji and letters of all scripts in any order; a word of a megabyte."""
    texts = list(spoilt_texts(1000))
    documents = [
        build_document({"id": f"d{n}", "sentences": [{"text": text} for text in texts[n : n + 5]]})
        for n in range(0, len(texts), 5)
    ]
    queries = texts[1:40]
    assert not list(
        differing_answers(elasticsearch_url, tmp_path / "index", documents, "multilingual", queries)
    )


@pytest.mark.endurance
@pytest.mark.parametrize("code", ["ar", "de", "es", "hi", "ru", "zh"])
def test_both_engines_find_the_same_in_real_text_of_a_language(
    elasticsearch_url: str, tmp_path: Path, code: str
) -> None:
    """Uses ../shared/collections/xquad-dev, where it is."""
    if not XQUAD.exists():
        pytest.skip("needs ../shared/collections/xquad-dev")
    source = XQUAD / code
    documents = [each.document for each in loaders.read_documents([str(source / "docs.jsonl.gz")])]
    topics = (source / "topics.tsv").read_text("utf-8").splitlines()
    queries = [line.split("\t")[1] for line in topics[:100]]
    analyzer = analyzer_for_language(code).name
    assert not list(differing_answers(elasticsearch_url, tmp_path / "index", documents, analyzer, queries))
