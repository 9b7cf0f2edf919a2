"""New documents are matched against saved searches as if each was run, on both engines."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from esr.alerts.alert_conditions import Conditions, read_conditions
from esr.alerts.matching import Match, find_matches, run_search
from esr.alerts.preview import preview_alert
from esr.enrichment.enricher import Enricher, VectorSettings
from esr.index.contract import Index
from esr.ranking.searcher import open_searcher
from esr.text.document import Document, Sentence
from tests.support.elasticsearch import fresh, load
from tests.support.fake_enricher import NAMES, SYNONYMS, VOCABULARY, FakeEnricher, write_tiny_encoder
from tests.support.index_contents import enrich

pytestmark = pytest.mark.slow

WORDS = [word for word in VOCABULARY if word not in SYNONYMS]
SOURCES, DESKS = ("BBC", "RTE", "TASS"), ("Berlin", "Rome")


LANGUAGES = ("en", "de", "de-AT")


def make_sentence(draw: random.Random, id: str) -> Sentence:
    """A sentence that may be surely furniture, or perhaps."""
    text = " ".join(draw.choices(WORDS, k=draw.randint(2, 9)))
    return Sentence(id, text, {"furniture": draw.choice((0.0, 0.0, 0.3, 1.0))})


def make_documents() -> list[Document]:
    draw = random.Random(4)
    return [
        Document(
            f"d{number}",
            tuple(make_sentence(draw, f"d{number}.s{n}") for n in range(draw.randint(1, 5))),
            language=LANGUAGES[number // 2 % 3] if number % 5 else None,
            title=" ".join(draw.choices(WORDS, k=2)) if number % 3 else None,
            source=draw.choice(SOURCES),
            date=f"2017-0{draw.randint(1, 3)}-{draw.randint(10, 28)}" if number % 7 else None,
            metadata={"desk": draw.choice(DESKS)} if number % 2 else {},
        )
        for number in range(90)
    ]


DOCUMENTS = make_documents()
DELIVERY = DOCUMENTS[60:]


@pytest.fixture(
    scope="module", params=["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)]
)
def collection(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("alerts")
    encoder = str(write_tiny_encoder(folder / "encoder", 24))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ESR_ENCODER", encoder)
        if request.param == "embedded":
            yield from open_collection(str(folder / "index"), encoder)
        else:
            with fresh(request.getfixturevalue("elasticsearch_url")) as where:
                yield from open_collection(where, encoder)


def open_collection(where: str, encoder: str) -> Iterator[Index]:
    load(where, DOCUMENTS)
    enricher = Enricher(["vectors"], vectors=VectorSettings(encoder, 0.5))
    with open_searcher(where) as searcher:
        enrich(searcher.index, FakeEnricher(("entities", "quotes")))
        with searcher.index.enrichment() as enrichment:
            batch = [(each.id, enricher.enrich(each)) for each in DOCUMENTS[::-1] if each.id != "d70"]
            enrichment.store(enricher.recipe, batch)
            enrichment.finish(enricher.recipe)
        yield searcher.index.snapshot()


def make_search(draw: random.Random) -> dict[str, Any]:
    words = [draw.choice(WORDS) for _ in range(4)]
    names = [f"{type}:{name}" for type, of_type in NAMES.items() for name in of_type]
    names += ["Obama", "person:bee", "ohio", "person:Nobody"]
    speaker = draw.choice((*NAMES["person"], "Obama", "judge"))
    queries = (
        words[0],
        f"{words[0]} {words[1]}",
        f"{words[0]} OR {words[1]}",
        f'"{words[0]} {words[1]}" OR {words[2]} {words[3]}',
        f"{words[0]} -{words[1]}",
        f"{words[0][:3]}* {words[1]}",
        f"title:{words[0]}",
        f"{words[0]} source:{draw.choice(SOURCES).lower()}",
        f"{words[0]} -title:{words[1]}",
        f"is:quote {words[0]}",
        f'person:"{draw.choice(NAMES["person"])}" {words[0]}',
        f'person:"{speaker}" -{words[0]}',
        f'speaker~:"{speaker}" OR {words[0]}',
        f'speaker:"{speaker}" -{words[0]}',
    )
    search: dict[str, Any] = {"query": draw.choice(queries)}
    if draw.random() < 0.2:
        search["source"] = [draw.choice(SOURCES), "nowhere"][: draw.randint(1, 2)]
    if draw.random() < 0.2:
        search["after"] = f"2017-0{draw.randint(1, 3)}"
    if draw.random() < 0.15:
        search["meta"] = [f"desk={draw.choice(DESKS).upper()}"]
    if draw.random() < 0.3:
        search["entity"] = draw.sample(names, draw.randint(1, 2))
    if draw.random() < 0.1:
        search["document"] = [draw.choice(DOCUMENTS).id for _ in range(9)]
    if draw.random() < 0.2:
        search["least_score"] = draw.uniform(-12, 2)
        if draw.random() < 0.3:
            search["ranking"] = draw.choice([{"model": "bm25"}, {"candidates": "context"}])
        search |= {"require": "all"} if draw.random() < 0.3 else {}
        search |= {"furniture": True} if draw.random() < 0.4 else {}
    if draw.random() < 0.25:
        search["like"] = [" ".join(draw.choices(WORDS, k=4)) for _ in range(draw.randint(1, 3))]
        search["similarity"] = round(draw.uniform(0.1, 0.8), 2)
        if draw.random() < 0.5 and "least_score" not in search:
            del search["query"]
        if draw.random() < 0.4:
            search["languages"] = draw.choice(("de", "en,de-AT", "fr", "all"))
    return search


def describe(matches: Sequence[Match]) -> list[tuple[str, float, float | None]]:
    return sorted((m.sentence_id, round(m.score, 9), m.similarity) for m in matches)


def test_the_matches_of_a_delivery_are_those_of_running_each_search(collection: Index) -> None:
    draw = random.Random(7)
    tables = [make_search(draw) for _ in range(200)]
    tables += [{"query": f'speaker:"Nobody {n}" OR person:"Nobody {n}"'} for n in range(30)]
    searches = [read_conditions(table) for table in tables]
    matches = find_matches(collection, DELIVERY, searches)
    assert not matches.failures
    delivered = {sentence.id for each in DELIVERY for sentence in each.sentences}
    for table, search, found in zip(tables, searches, matches.by_search, strict=True):
        right = [match for match in run_search(collection, search) if match.sentence_id in delivered]
        assert describe(found) == describe(right), table
    assert 80 < sum(map(bool, matches.by_search)) < 230, "searches with and without matches"


def test_a_search_that_cannot_be_run_does_not_stop_the_others(collection: Index) -> None:
    searches = [read_conditions({"query": "the of"}), read_conditions({"query": WORDS[0]})]
    matches = find_matches(collection, DELIVERY, searches)
    assert [*matches.failures] == [0] and "stop words" in matches.failures[0]
    assert matches.by_search[1]


def test_a_delivery_without_sentences_matches_nothing(collection: Index) -> None:
    assert find_matches(collection, [], [Conditions()]).by_search == [[]]


def test_a_preview_counts_the_sentences_at_each_least_similarity(collection: Index) -> None:
    like = {"like": [" ".join(WORDS[:4])], "similarity": 0.4, "after": "2017"}
    found = [match.similarity or 0.0 for match in run_search(collection, read_conditions(like))]
    preview = preview_alert(collection, read_conditions(like), days=10_000)
    counts = {float(least): number for least, number in preview.by_similarity.items()}
    assert preview.sentences == len(found) > 3
    assert {n: sum(one >= n for one in found) for n in counts if n >= 0.4} == {
        n: number for n, number in counts.items() if n >= 0.4
    }
    assert {0.3, 0.35, 0.95} <= set(counts) and len(counts) > 14, "closer together where they are few"
    assert preview.examples[0]["similarity"] == min(found)
