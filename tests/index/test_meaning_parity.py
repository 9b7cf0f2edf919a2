"""Both engines rank by words and meaning in the same way, with the same vectors."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner

from esr.cli import main
from esr.enrichment.enricher import Enricher
from esr.enrichment.sentence_vectors import VectorSettings
from esr.index.factory import open_delivery
from esr.index.filters import NO_FILTERS, Filters
from esr.index.writer import LoadOptions
from esr.ranking.explain import explain
from esr.ranking.ranking import Ranking
from esr.ranking.rerank_context import encode_query
from esr.ranking.searcher import open_searcher, raw_request
from esr.text.document import Document
from tests.support.elasticsearch import differences, document, fresh, http, load, located
from tests.support.tiny_encoder import SYNONYMS, VOCABULARY, write_tiny_encoder

QUERIES = (
    "storm in the city",
    "earthquake relief china",
    "bank",
    "river flood flood town",
    "hurricane",
    "nothing gale",
)
SHARES = ((0.0, 0.0), (0.3, 0.0), (0.1, 0.2))
DEPTH = 40
"""Fewer than match, so that the window has a border."""


def make_documents(first: int, count: int, seed: int) -> list[Document]:
    draw = random.Random(seed)
    words = [*(word for word in VOCABULARY if word not in SYNONYMS), "stoneword", "mayor"]
    return [
        document(
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
        for nu, lambda_ in SHARES:
            ranking = Ranking.from_dict(
                {"depth": DEPTH, "rerank": [{"signal": "meaning", "w": 8, "nu": nu, "lambda": lambda_}]}
            )
            for query in QUERIES:
                prepared = [searcher.prepare(query, ranking) for searcher in (exact, other)]
                by_exact, by_other = (each.search(100) for each in prepared)
                assert not differences(by_exact.hits, by_other.hits, 100), (nu, lambda_, query)
                assert by_exact.without_vector == by_other.without_vector
                assert by_exact.total == by_other.total
                missing.append(by_other.without_vector)
                ids = [hit.sentence_id for hit in by_other.hits[:3]]
                for id in ids:
                    one, two = (explain(each, id).second for each in prepared)
                    assert one is not None and two is not None
                    assert two.signals[0].value == one.signals[0].value, "products are exact"
                    assert two.signals[0].parts == one.signals[0].parts
    return missing


def check_request(where: str) -> None:
    """The request that `esr query` prints ranks what words find as esr does, without esr."""
    ranking = Ranking.from_dict({"depth": DEPTH, "rerank": [{"signal": "meaning", "w": 8}]})
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


@pytest.mark.parametrize("shards", [1, 3])
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
