"""Kinds of queries by their form, and rankings that take their parameters from the kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from esr.enrichment.enricher import Enricher, VectorSettings
from esr.index.runs.enrichment_run import run_enrichment
from esr.lab import measures
from esr.lab.grid import build_default_grid, expand_grid
from esr.lab.tuner import Task, Tuner
from esr.ranking.explanation.explain import explain
from esr.ranking.query_kinds import LONG, QUESTION, SHORT, STATEMENT, find_kind, list_kinds
from esr.ranking.ranking import Ranking, build_ranking
from esr.ranking.searcher import Searcher
from esr.ranking.second_stage.signals import RankingSignal, parse_signal, signal_from_dict
from esr.text.document import Document, Sentence
from tests.support.fake_enricher import write_tiny_encoder
from tests.support.index_contents import ENGINES, open_loaded

KINDS = {
    QUESTION: (
        "Who won the election?",
        "who won the election",
        "how many people live in Berlin",
        "In which year did the war end",
        "is coffee good for you",
        "the largest city of Peru?",
        'Did he say "no comment?"',
        "Wer hat die Wahl gewonnen?",
        "东京在哪里？",
        "WHO WON THE ELECTION",
    ),
    STATEMENT: (
        "The minister said that taxes would not be raised before the next election.",
        "Vaccines cause more deaths than measles ever did.",
        "“Oil prices fell by half within two years.”",
        "river was polluted by the factory",
        "Die Regierung hat das Gesetz gestern zurückgezogen.",
        "सरकार ने कल नया कानून वापस ले लिया।",
    ),
    LONG: (
        "Strong earthquake kills dozens in China",
        "Bundestag stimmt nach langer Debatte für Gesetz",
        "Minister quits over the leak of secret papers",
        "Die Regierung hat das Gesetz gestern zurückgezogen",
        "one two three four five six",
    ),
    SHORT: (
        "",
        "...",
        "earthquake relief China",
        "Angela Merkel",
        "WHO declares a pandemic",
        "in China",
        "Will Smith",
        "one two three four five",
        "The river was polluted.",
    ),
}
QUERIES = {
    QUESTION: "who is in the town storm",
    STATEMENT: "the storm that is in the town has a flood",
    LONG: "storm town flood river bank fraud",
    SHORT: "storm town",
}
TEXTS = {
    "a": ("storm in the town", "the river rose", "bank fraud", "food aid"),
    "b": ("hurricane in the city",),
    "c": ("town court", "the storm", "north wind"),
    "d": ("the town bank", "flood water town"),
}
DOCUMENTS = [
    Document(id, tuple(Sentence(f"{id}.s{n}", text) for n, text in enumerate(texts)))
    for id, texts in TEXTS.items()
]
BY_KIND = Ranking.from_dict({"rerank": [{"signal": "meaning", "kinds": "yes"}]})


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in KINDS.items() for text in texts])
def test_the_form_of_a_query_tells_its_kind(kind: str, text: str) -> None:
    assert find_kind(text).name == kind


def test_every_kind_sets_the_same_parameters_of_the_signal() -> None:
    assert list(list_kinds()) == [QUESTION, STATEMENT, LONG, SHORT]
    for kind in list_kinds().values():
        assert RankingSignal("meaning", kind.weights).settings() == {**kind.weights, "kinds": "no"}
        assert kind.model == {"lambda": Ranking(params=kind.model).settings()["lambda"]}


def test_the_documented_weights_are_those_of_the_kinds() -> None:
    text = (Path(__file__).parents[2] / "docs" / "meaning.md").read_text("utf-8")
    _, table = text.split("| kind | known by |", 1)
    documented = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:6]]
    for row, kind in zip(documented, list_kinds().values(), strict=True):
        assert row[:2] == [kind.name, kind.form]
        weights = [kind.weights[name] for name in ("w", "nu", "lambda", "empty", "feedback")]
        assert [float(cell) for cell in row[2:]] == [*weights, kind.model["lambda"]]


def test_hybrid_chooses_its_weights_by_kind() -> None:
    for kind, query in QUERIES.items():
        ranking = Ranking.from_file("hybrid").for_query(query)
        (signal,) = ranking.rerank
        assert signal.settings() == {**list_kinds()[kind].weights, "kinds": "yes"}
        assert ranking.params == list_kinds()[kind].model


def test_given_parameters_take_precedence() -> None:
    signal = parse_signal("meaning:7:feedback=0:kinds=yes")
    for kind, query in QUERIES.items():
        expected = {**list_kinds()[kind].weights, "w": 7.0, "feedback": 0.0, "kinds": "yes"}
        assert signal.for_query(query).settings() == expected
    (of_option,) = build_ranking("hybrid", rerank="meaning:20").for_query(QUERIES[QUESTION]).rerank
    assert (of_option.weight, of_option.settings()["empty"]) == (20.0, 0.0), "--rerank replaces the signal"


@pytest.mark.parametrize(("kind", "query"), QUERIES.items())
def test_given_parameters_of_the_model_take_precedence_over_those_of_the_kind(kind: str, query: str) -> None:
    chosen, hybrid = list_kinds()[kind].model, Ranking.from_file("hybrid")
    default = Ranking().settings()["lambda"]
    assert hybrid.for_query(query).settings()["lambda"] == chosen["lambda"] != default
    for ranking in (build_ranking("hybrid", params={"lambda": default}), Ranking.from_file("words")):
        assert ranking.for_query(query).settings()["lambda"] == default
    given = build_ranking("hybrid", params={"mu": 7}).for_query(query)
    assert given.params == {"mu": 7, **chosen}
    of_other_model = build_ranking("hybrid", model="jm")
    assert of_other_model.for_query(query).params == {}
    assert build_ranking(rerank="meaning:7").for_query(query).params == {}


@pytest.mark.parametrize("params", [{}, {"lambda": 0.25}, {"mu": 9.0}])
def test_a_saved_ranking_keeps_the_choice_by_kind_and_what_was_given(params: dict[str, float]) -> None:
    ranking = build_ranking("hybrid", params=params)
    saved = Ranking.from_dict(json.loads(json.dumps(ranking.as_dict())))
    for query in QUERIES.values():
        assert saved.for_query(query).settings() == ranking.for_query(query).settings()


@pytest.mark.parametrize("data", [{}, {"w": 7.0}, {"kinds": "yes"}, {"kinds": "yes", "w": 7.0}])
def test_a_saved_signal_keeps_its_meaning(data: dict[str, object]) -> None:
    signal = signal_from_dict({"signal": "meaning", **data})
    saved = signal_from_dict(json.loads(json.dumps(signal.as_dict())))
    assert saved.as_dict() == signal.as_dict()
    for query in QUERIES.values():
        assert saved.for_query(query).settings() == signal.for_query(query).settings()


def test_tuning_leaves_the_weights_of_kinds_alone() -> None:
    grid = build_default_grid(Ranking.from_file("hybrid"))
    assert "mu" in grid and "lambda" not in grid and not any(name.startswith("meaning.") for name in grid)


@pytest.mark.parametrize("nu", [0.1, 0.4, 1])
def test_what_a_kind_sets_has_room_beside_what_is_given(nu: float) -> None:
    hybrid = replace(Ranking.from_file("hybrid"), params={"nu": nu})
    for kind, query in QUERIES.items():
        params = hybrid.for_query(query).params
        assert params == {"nu": nu, "lambda": min(list_kinds()[kind].model["lambda"], 1 - nu)}
        assert hybrid.for_query(query).mixture() is not None
    assert len(expand_grid(hybrid, {"nu": [nu]})) == 1
    assert hybrid.mixture() == build_ranking("hybrid", params={"nu": str(nu)}).mixture(), "as --set gives it"


@pytest.fixture(scope="module", params=ENGINES)
def searcher(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    folder: Path = tmp_path_factory.mktemp("kinds")
    encoder = str(write_tiny_encoder(folder / "tiny", 32))
    with pytest.MonkeyPatch.context() as patch, open_loaded(request, folder, DOCUMENTS) as searcher:
        patch.setenv("ESR_ENCODER", encoder)
        run_enrichment(searcher.index, Enricher(["vectors"], vectors=VectorSettings(encoder)))
        yield searcher


@pytest.mark.slow
@pytest.mark.parametrize("kind", QUERIES)
def test_a_search_by_kind_is_one_with_the_weights_of_the_kind(searcher: Searcher, kind: str) -> None:
    signal = RankingSignal("meaning", list_kinds()[kind].weights)
    by_kind = searcher.search(QUERIES[kind], 100, ranking=BY_KIND)
    explicit = Ranking(params=list_kinds()[kind].model, rerank=(signal,))
    given = searcher.search(QUERIES[kind], 100, ranking=explicit)
    assert [hit[:3] for hit in by_kind.hits] == [hit[:3] for hit in given.hits] != []
    default = searcher.search(QUERIES[kind], 100, ranking=replace(explicit, params={}))
    assert {hit.score for hit in default.hits} != {hit.score for hit in given.hits}, "lambda matters"


@pytest.mark.slow
@pytest.mark.parametrize("kind", QUERIES)
def test_an_explanation_names_the_kind_and_what_it_sets(searcher: Searcher, kind: str) -> None:
    prepared = searcher.prepare(QUERIES[kind], build_ranking(BY_KIND, rerank="meaning:7:kinds=yes"))
    hit = prepared.search(1).hits[0]
    explanation = explain(prepared, hit.sentence_id)
    assert explanation.score == pytest.approx(hit.score)
    assert explanation.second is not None
    (part,) = explanation.second.signals
    chosen = {name: value for name, value in list_kinds()[kind].weights.items() if name != "w"}
    assert (part.kind, part.chosen) == (kind, chosen)
    assert f"the kind of the query is {kind}, which sets nu {chosen['nu']:g}, " in str(explanation)
    assert json.loads(json.dumps(part.as_dict()))["kind"] == kind
    assert explanation.as_dict()["chosen"] == explanation.chosen == list_kinds()[kind].model
    assert f"model: the kind of the query sets lambda {explanation.chosen['lambda']:g}\n" in str(explanation)
    plain = explain(searcher.prepare(QUERIES[kind], build_ranking(rerank="meaning:7")), hit.sentence_id)
    assert plain.second is not None and plain.second.signals[0].kind is None
    assert not plain.chosen and "model: the kind" not in str(plain)


@pytest.mark.slow
def test_an_explanation_does_not_credit_the_kind_with_what_is_equal_and_requested(searcher: Searcher) -> None:
    kind = list_kinds()[QUESTION]
    signal = RankingSignal("meaning", {"kinds": "yes", "nu": kind.weights["nu"]})
    prepared = searcher.prepare(QUERIES[QUESTION], Ranking(params=kind.model, rerank=(signal,)))
    explanation = explain(prepared, prepared.search(1).hits[0].sentence_id)
    assert explanation.second is not None
    (part,) = explanation.second.signals
    assert explanation.chosen == {}
    assert part.chosen == {name: value for name, value in kind.weights.items() if name != "nu"}
    whole = RankingSignal("meaning", {"kinds": "yes", **kind.weights})
    prepared = searcher.prepare(QUERIES[QUESTION], Ranking(rerank=(whole,)))
    text = str(explain(prepared, explanation.sentence_id))
    assert "model: the kind of the query sets lambda" in text and "the kind of the query is" not in text


@pytest.mark.slow
@pytest.mark.parametrize("kind", QUERIES)
def test_tuning_sees_the_figures_of_a_search_by_kind(searcher: Searcher, kind: str) -> None:
    relevant, query = ("a.s0", "b.s0", "c.s1", "d.s1"), QUERIES[kind]
    explicit = replace(BY_KIND, rerank=(RankingSignal("meaning", list_kinds()[SHORT].weights),))
    settings = [explicit, BY_KIND, build_ranking(BY_KIND, rerank="meaning:3:kinds=yes")]
    figures = Tuner(searcher, [Task("t", query, relevant)]).compute_figures(settings)[:, 0]
    for ranking, figure in zip(settings, figures, strict=True):
        hits = searcher.search(query, 1000, ranking=ranking, records=False).hits
        run = {"t": {hit.sentence_id: hit.score for hit in hits}}
        assert figure == measures.evaluate(["AP"], {"t": dict.fromkeys(relevant, 1)}, run)["AP"]["t"]
