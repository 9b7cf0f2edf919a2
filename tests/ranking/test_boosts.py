"""What all boosts share: how they are written, saved, switched off, and that they add no candidates."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from esr.errors import UsageError
from esr.lab import grid, measures
from esr.lab.grid_search import ascend, search_grid
from esr.lab.tuner import Task, Tuner
from esr.models import MODELS
from esr.plans.plan import CANDIDATES, PlanTerm, StaticScore
from esr.ranking import boosts
from esr.ranking.boosts.answer_type import answer_feature
from esr.ranking.boosts.expansions import add_terms
from esr.ranking.explanation.explain import explain
from esr.ranking.ranking import Origin, Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.document import Located, ParseWord, Sentence
from esr.topics.runs import format_lines
from tests.support.folder_index import append, boost_corpus, document, load

NEWS = [
    document(
        "a",
        Sentence("a0", "migration policy bank", {"pers": 2, "numbers": 0}, (ParseWord("policy", -1),)),
        Sentence("a1", "migrants vote", {"pers": 0, "numbers": 3}),
        Sentence("a2", "migration court"),
    ),
    document("b", "migrations migrating migraine", "bank bank vote", "migrationist"),
]


@pytest.fixture
def searcher(tmp_path: Path) -> Iterator[Searcher]:
    """A small collection in two segments, whose terms begin alike, and whose sentences have features."""
    load(tmp_path / "index", NEWS)
    append(tmp_path / "index", document("c", "migratory birds", "migration22 bank"))
    with open_searcher(str(tmp_path / "index")) as opened_searcher:
        yield opened_searcher


RANKING = Ranking(boosts={"answer_type": 0.3})


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        ("Who wrote of the pump?", "pers"),
        ("who wrote of the pump", "pers"),
        ("To whom was it sold?", "pers"),
        ("Where's the court", "loc"),
        ("When did the war end?", "numbers"),
        ("how many people voted", "numbers"),
        ("How  much is it?", "numbers"),
        ("In which city is the bank?", "loc"),
        ("The pump was invented in what year?", "numbers"),
        ("What company owns the bank?", "org"),
        ("How did the war end?", None),
        ("What happened when the war ended?", None),
        ("Why did the man who won go?", None),
        ("Powell, who had promised it, refused.", None),
        ("the man who sold the bank", None),
        ("When the war ended, he went home.", None),
        ("whoever wins?", None),
        ("bank fraud", None),
        ("?", None),
        ("", None),
    ],
)
def test_the_first_interrogative_decides_what_a_question_asks_for(text: str, feature: str | None) -> None:
    assert answer_feature(text) == feature


def test_it_is_a_step_on_the_feature_and_nothing_else(searcher: Searcher) -> None:
    plan = searcher.prepare("who led the migration", RANKING).plan
    plain = searcher.prepare("who led the migration", Ranking()).plan
    assert plan.static_scores == (StaticScore("features.pers", "step", 0.3),)
    assert (plan.terms, plan.transform) == (plain.terms, plain.transform)


def test_sentences_with_such_a_name_gain_its_weight(searcher: Searcher) -> None:
    def scores(ranking: Ranking) -> dict[str, float]:
        return {
            hit.sentence_id: hit.score for hit in searcher.search("who migration", 9, ranking=ranking).hits
        }

    plain, boosted = scores(Ranking()), scores(RANKING)
    assert boosted["a0"] == pytest.approx(plain["a0"] + 0.3)
    assert {id for id in plain if boosted[id] != plain[id]} == {"a0"}  # a1 has none, of a2 it is not known


def test_an_index_without_such_features_is_an_error(tmp_path: Path) -> None:
    load(tmp_path / "plain", [document("a", "bank vote")])
    with open_searcher(str(tmp_path / "plain")) as searcher:
        for query in ("who votes", "bank"):
            with pytest.raises(UsageError, match="no sentence has any: run esr enrich"):
                searcher.search(query, ranking=RANKING)


def test_other_queries_and_features_that_the_index_lacks_leave_the_plan_as_it_is(searcher: Searcher) -> None:
    for query in ("migration policy", "where is the bank"):  # the index has no feature loc
        boosted, plain = (searcher.prepare(query, ranking) for ranking in (RANKING, Ranking()))
        assert (boosted.plan, boosted.unseen) == (plain.plan, plain.unseen)
        assert (boosted.counts, boosted.statistics) == (plain.counts, plain.statistics)


VERBS = "said says told sagte sagt erklärte"


@pytest.mark.parametrize(
    ("query", "asks"),
    [
        ("what did Theresa May say about brexit", True),
        ("What has Trump told the court?", True),
        ("Theresa May said brexit", True),
        ("was sagte Angela Merkel zum Klima", True),
        ("Merkel sagte Nein", True),
        ("bank fraud", False),
        ("nothing that was said", False),
    ],
)
def test_a_query_for_what_somebody_said_lifts_sentences_with_a_verb_of_speech(
    tmp_path: Path, query: str, asks: bool
) -> None:
    load(tmp_path / "said", [document("a", query, f"{query} {VERBS}", f"{VERBS} bank", f"{query} bank")])
    with open_searcher(str(tmp_path / "said")) as searcher:
        before, after = (
            {
                hit.sentence_id: hit.score
                for hit in searcher.search(query, ranking=Ranking(boosts=boosts)).hits
            }
            for boosts in ({}, {"speech": 1.0})
        )
    assert before.keys() == after.keys()
    assert all(after[id] >= before[id] for id in before)
    assert (after["a.s1"] > before["a.s1"]) == asks
    assert (after == before) != asks


ALL: dict[str, Any] = {
    "speech": 0.3,
    "answer_type": 0.3,
    "variants": 0.2,
    "feedback": {"w": 0.5, "sentences": 2, "terms": 5},
}
QUERY = "who leads migration policy"


@pytest.mark.slow
def test_a_saved_ranking_has_them_with_every_default() -> None:
    ranking = Ranking.from_dict({"boosts": {"variants": {}, "feedback": 0.3, "answer_type": 1}})
    saved = json.loads(json.dumps(ranking.as_dict()))
    assert saved["boosts"] == {
        "variants": 0.2,
        "feedback": {"w": 0.3, "sentences": 10, "terms": 20},
        "answer_type": 1,
    }
    assert Ranking.from_dict(saved).as_dict() == saved


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"variant": 0.2}, "unknown boost 'variant': did you mean 'variants'?"),
        ({"feedback": {"term": 3}}, "unknown parameter of boost feedback 'term': did you mean 'terms'?"),
        ({"feedback": {"terms": 2.5}}, r"'terms' must be a whole number in \[1, 1000\], not 2.5"),
        ({"variants": -1}, r"'w' must be a number in \[0, 1e\+06\], not -1"),
        ({"feedback": 1e308}, r"'w' must be a number in \[0, 1e\+06\], not 1e\+308"),
        ({"variants": True}, "not True"),
        ({"variants": None}, "not None"),
        (["variants"], "boosts must be a JSON object"),
        ("variants", "boosts must be a JSON object"),
    ],
)
def test_a_bad_boost_is_refused_with_the_nearest_name(data: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Ranking.from_dict({"boosts": data})


@pytest.mark.slow
def test_they_are_parsed_from_the_command_line() -> None:
    assert boosts.parse("variants") == ("variants", {})
    assert boosts.parse("variants:0.3") == ("variants", {"w": "0.3"})
    assert boosts.parse("feedback:0.1:terms=5") == ("feedback", {"w": "0.1", "terms": "5"})
    for text in ("variants:1:2", "feedback:terms=1:terms=2", "variants:0.1:w=2"):
        with pytest.raises(UsageError, match="give each parameter once"):
            boosts.parse(text)


@pytest.mark.slow
def test_an_expansion_makes_query_terms_heavier_and_other_terms_no_candidates() -> None:
    query_terms = [PlanTerm("a", 2.0, 0.1)]
    unit_terms = [PlanTerm("a", 0.5, 0.1), PlanTerm("b", 3.0, 0.2)]
    assert add_terms(query_terms, unit_terms, {"a": 1.0, "b": 0.5}) == (
        PlanTerm("a", 2.5, 0.1),
        PlanTerm("b", 1.5, 0.2, own=False),
    )


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("rule", CANDIDATES)
def test_they_change_scores_and_no_candidates(searcher: Searcher, model: str, rule: str) -> None:
    plain = searcher.search(QUERY, 100, model=model, candidates=rule).hits
    boosted = searcher.search(QUERY, 100, model=model, candidates=rule, boosts=ALL).hits
    assert {hit.sentence_id for hit in boosted} == {hit.sentence_id for hit in plain}
    # The second stage of tdsr ranks by trees alone.
    assert (boosted != plain) == (model != "tdsr")


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_of_weight_0_they_are_off(searcher: Searcher, model: str) -> None:
    off = {"answer_type": 0, "variants": 0, "feedback": 0}
    answer = searcher.search(QUERY, 100, model=model, boosts=off)
    assert answer.hits == searcher.search(QUERY, 100, model=model).hits


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_the_parts_that_are_explained_add_up(searcher: Searcher, model: str) -> None:
    ranking = Ranking.from_dict({"model": model, "priors": {"length": 0.5}, "boosts": ALL})
    hits = searcher.search(QUERY, 100, ranking=ranking).hits
    assert hits
    for hit in hits:
        explanation = explain(searcher.prepare(QUERY, ranking), hit.sentence_id)
        parts = [*explanation.terms, *explanation.priors, *explanation.features, *explanation.boosts]
        assert explanation.length + sum(part.adds for part in parts) == pytest.approx(
            explanation.first, rel=1e-9
        )
        assert explanation.score == pytest.approx(hit.score, rel=1e-9)


@pytest.mark.slow
def test_an_explanation_has_the_boost_of_a_term_and_what_each_adds(searcher: Searcher) -> None:
    ranking = Ranking.from_dict({"boosts": ALL})
    explanation = explain(searcher.prepare(QUERY, ranking), "a0")
    shares_by_term = {part.origin.name: dict(part.boosts) for part in explanation.terms}
    assert shares_by_term["migrations"] == {"variants": pytest.approx(0.2)}
    assert set(shares_by_term["bank"]) == set(shares_by_term["policy"]) == {"feedback"}
    weights = {part.origin.name: part.weight for part in explanation.terms}
    plain = {term.term: term.weight for term in searcher.prepare(QUERY, Ranking()).plan.terms}
    for term, shares in shares_by_term.items():
        assert sum(shares.values()) == pytest.approx(weights[term] - plain.get(term, 0.0))
    (step,) = explanation.boosts
    assert step.origin == Origin("boost", "answer_type", "pers")
    assert (step.value, step.weight) == (2, 0.3)
    assert explanation.boosted["answer_type"] == step.adds == 0.3
    feedback_terms = {part.origin.name: part for part in explanation.terms if "feedback" in part.boosts}
    assert set(feedback_terms) == {"migration", "policy", "bank", "court"}
    assert explanation.boosted["feedback"] == pytest.approx(
        sum(part.adds * part.boosts["feedback"] / part.weight for part in feedback_terms.values())
    )
    assert explanation.as_dict()["boosted"] == explanation.boosted


@pytest.mark.slow
def test_a_feature_without_a_value_adds_nothing(searcher: Searcher) -> None:
    explanation = explain(searcher.prepare(QUERY, Ranking.from_dict({"boosts": ALL})), "a2")
    assert (explanation.boosts[0].value, explanation.boosts[0].adds) == (None, 0.0)
    assert explanation.boosted["variants"] == 0.0  # a sentence without them loses nothing


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_two_boosts_of_one_term_share_what_it_adds(searcher: Searcher, model: str) -> None:
    """migrations is a variant of migration, and stands in a sentence that is fed back for migraine."""
    both_boosts = {"variants": 0.2, "feedback": {"w": 0.5, "terms": 50}}
    query = "migration migraine"

    def explained_term(boosts: Any) -> Any:
        ranking = Ranking.from_dict({"model": model, "boosts": boosts})
        parts = explain(searcher.prepare(query, ranking), "b.s0").terms
        return next(part for part in parts if part.origin.name == "migrations")

    part = explained_term(both_boosts)
    assert part.boosts == pytest.approx(
        {name: explained_term({name: both_boosts[name]}).weight for name in both_boosts}
    )
    assert sum(part.boosts.values()) == pytest.approx(part.weight)


def ranking(**values: float) -> Ranking:
    return Ranking("jm", boosts={"feedback": values})


def weights(searcher: Searcher, query: str, boosted: Ranking) -> dict[str, float]:
    return {term.term: term.weight for term in searcher.prepare(query, boosted).plan.terms}


def test_the_terms_of_the_first_sentences_share_the_weight_by_their_probability(searcher: Searcher) -> None:
    """The first two for "policy migration" are a0 and a2: p is 1/3 each in the one, 1/2 each in the other."""
    ids = [hit.sentence_id for hit in searcher.search("policy migration", 2, model="jm").hits]
    assert ids == ["a0", "a2"]
    probabilities = {"policy": 1 / 3, "migration": 1 / 3 + 1 / 2, "bank": 1 / 3, "court": 1 / 2}
    total = sum(probabilities.values())
    expected = {
        term: 0.6 * 2 * p / total for term, p in probabilities.items()
    }  # two terms of the query at .6
    expected["policy"] += 1
    expected["migration"] += 1
    assert weights(searcher, "policy migration", ranking(w=0.6, sentences=2)) == pytest.approx(expected)


def test_no_more_than_the_best_sentences_are_looked_at(searcher: Searcher) -> None:
    """Three sentences have "bank", of which "bank bank vote" is the best."""
    assert set(weights(searcher, "bank", ranking(sentences=1))) == {"bank", "vote"}
    assert len(weights(searcher, "bank", ranking(sentences=2))) > 2


def test_only_the_likeliest_terms_are_taken_and_of_equal_ones_the_first_by_name(searcher: Searcher) -> None:
    weights_by_term = weights(searcher, "policy migration", ranking(w=0.6, sentences=2, terms=2))
    assert weights_by_term == pytest.approx({"policy": 1, "migration": 1 + 1.2 * 5 / 8, "court": 1.2 * 3 / 8})
    weights_by_term = weights(searcher, "policy", ranking(w=0.5, sentences=1, terms=1))
    assert weights_by_term == pytest.approx(
        {"policy": 1, "bank": 0.5}
    )  # bank, migration and policy are equals


def test_filters_do_not_change_it_so_that_explain_and_search_agree(searcher: Searcher) -> None:
    from esr.index.filters import Filters
    from esr.ranking.explanation.explain import explain

    boosted = ranking(w=0.5, sentences=2)
    (hit,) = searcher.search("policy vote", 1, ranking=boosted, filters=Filters(documents=("b",))).hits
    assert explain(searcher.prepare("policy vote", boosted), hit.sentence_id).score == pytest.approx(
        hit.score
    )


def test_the_first_search_is_that_of_the_ranking_without_boosts(searcher: Searcher) -> None:
    boosted = Ranking("jm", boosts={"variants": 0.2, "feedback": {"sentences": 1}})
    alone = {term: w for term, w in weights(searcher, "migrating", boosted).items() if term == "migraine"}
    assert alone == pytest.approx({"migraine": 0.1 / 3})
    assert searcher.prepare("unheardof", boosted).plan.terms == ()


VARIANTS = Ranking("jm", boosts={"variants": 0.2})


def weights_variants(
    searcher: Searcher, query: str, ranking: Ranking = VARIANTS
) -> dict[str, tuple[float, bool]]:
    plan = searcher.prepare(query, ranking).plan
    return {term.term: (term.weight, term.own) for term in plan.terms}


def test_terms_that_begin_alike_are_added_at_the_boosts_weight(searcher: Searcher) -> None:
    """migrants, migraine and migratory share less than "migrati"; migrationist has three letters more."""
    assert weights_variants(searcher, "migration") == {
        "migration": (1.0, True),
        "migrating": (0.2, False),
        "migrations": (0.2, False),
    }


def test_a_repeated_terms_variants_weigh_as_often_and_those_of_two_terms_add_up(searcher: Searcher) -> None:
    assert weights_variants(searcher, "migrations migrations")["migration"] == (0.4, False)
    weights_by_term = weights_variants(searcher, "migration migrations")
    assert weights_by_term["migrations"] == (1.0, True)
    assert weights_by_term["migrating"] == (0.2, False)
    weights_by_term = weights_variants(searcher, "bank migrationx migrationy")  # nobody has the last two
    assert (weights_by_term["migration"], weights_by_term["migrations"]) == ((0.4, False), (0.4, False))


def test_numbers_and_short_terms_have_none(searcher: Searcher) -> None:
    assert set(weights_variants(searcher, "migration22 bank")) == {"migration22", "bank"}
    assert set(weights_variants(searcher, "bird bank")) == {"bank"}  # there is "birds"
    assert set(weights_variants(searcher, "migra bank")) == {"bank"}  # what begins so has three letters more


def test_a_word_that_nobody_has_still_has_variants(searcher: Searcher) -> None:
    prepared = searcher.prepare("bank migrationa", VARIANTS)
    assert prepared.unseen == ("migrationa",)
    assert [term.term for term in prepared.plan.terms][:2] == ["bank", "migration"]


def test_terms_of_an_index_by_language_have_variants_of_their_language(tmp_path: Path) -> None:
    """The mark of the language before a term is no part of the word, nor does it count as letters."""
    english = document("a", "electric cars", "an electron", "birds", "birch", language="en")
    german = document("b", "electron", language="de")
    load(tmp_path / "index", [english, german], analyzer="by-language")
    with open_searcher(str(tmp_path / "index")) as searcher:
        assert weights_variants(searcher, "language:en electric") == {
            "en|electr": (1.0, True),
            "en|electron": (0.2, False),
        }
        assert set(weights_variants(searcher, "language:en bird")) == {"en|bird"}


def test_a_variant_adds_what_its_occurrences_are_worth_above_chance_times_the_weight(
    searcher: Searcher,
) -> None:
    """By hand, jm with lambda .5."""
    ranking = Ranking("jm", candidates="all", boosts={"variants": 0.2})
    plain = {h.sentence_id: h.score for h in searcher.search("migration", ranking=Ranking("jm")).hits}
    boosted = {h.sentence_id: h.score for h in searcher.search("migration", 99, ranking=ranking).hits}
    total = searcher.index.statistics([]).collection.occurrences
    assert total == 18
    assert {id: boosted[id] for id in plain} == pytest.approx(plain)  # they have no variant, and lose nothing
    once = 0.2 * math.log(
        1 + (0.5 * 1 / 3) / (0.5 * 1 / total)
    )  # migrations and migrating, 1 of 3 terms each
    assert boosted["b.s0"] == pytest.approx(math.log(0.5 * 2 / total) + 2 * once)


# Boosts are tuned as any parameter: the figures are those of searches.


TASKS = [
    Task("1", "who stops migrated", ("d0.0", "d3.1", "d7.0", "d9.1", "d20.0")),
    Task("2", "how many courts vote", ("d1.0", "d2.1", "d8.0", "d11.0")),
    Task("3", "court migrants court banker", ("d4.0", "d5.0", "d6.1", "d12.0", "d13.1")),
]
BOOSTED = Ranking.from_dict(
    {
        "params": {"mu": 5},
        "boosts": {"answer_type": {}, "variants": {}, "feedback": {"sentences": 2}},
        "features": [{"feature": "position", "form": "log"}],
    }
)


@pytest.fixture(scope="module")
def tuned_searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    where = tmp_path_factory.mktemp("tuned") / "index"
    load(where, [Located("made up", document) for document in boost_corpus(0, 30)])
    with open_searcher(str(where)) as searcher:
        yield searcher


def figures(searcher: Searcher, ranking: Ranking) -> list[float]:
    """AP of the runs of searches, topic by topic."""
    values = []
    for task in TASKS:
        hits = searcher.search(task.query, 1000, ranking=ranking, records=False).hits
        lines = [line.split() for line in format_lines(task.topic, hits, "x")]
        run = {task.topic: {line[2]: float(line[4]) for line in lines}}
        qrels = {task.topic: dict.fromkeys(task.relevant, 1)}
        values.append(measures.evaluate(["AP"], qrels, run)["AP"][task.topic])
    return values


def test_the_default_grid_has_the_weights_that_the_ranking_leaves_open() -> None:
    names = set(grid.build_default_grid(BOOSTED))
    assert {"answer_type.w", "variants.w", "feedback.w", "position.w"} <= names
    assert "variants.w" not in grid.build_default_grid(Ranking(boosts={"variants": 0.2}))
    tuned = grid.set_parameters(BOOSTED, {"variants.w": 0.4, "feedback.terms": 3.0, "mu": 7.0})
    assert tuned.boosts == {
        "answer_type": {},
        "variants": {"w": 0.4},
        "feedback": {"sentences": 2.0, "terms": 3.0},
    }
    assert grid.read_parameters(tuned)["feedback.terms"] == 3.0


@pytest.mark.parametrize(
    "values",
    [
        {"answer_type.w": [0.0, 0.5, 3.0], "variants.w": [0.0, 0.3, 2.0]},
        {"feedback.terms": [1.0, 4.0], "feedback.w": [0.0, 0.4, 2.0]},
        {"feedback.w": [0.5, 2.0], "mu": [1.0, 50.0], "position.w": [-3.0, 1.0]},  # the first search changes
    ],
    ids=lambda values: "+".join(values),
)
def test_the_figures_of_settings_are_those_of_searches(
    tuned_searcher: Searcher, values: dict[str, list[float]]
) -> None:
    settings = grid.expand_grid(BOOSTED, values)
    table = Tuner(tuned_searcher, TASKS).compute_figures(settings)
    assert table.tolist() == [figures(tuned_searcher, setting) for setting in settings]
    assert len({tuple(row) for row in table.tolist()}) > 2


def test_boosts_signals_and_features_are_tuned_together(tuned_searcher: Searcher) -> None:
    ranking = Ranking.from_dict({**BOOSTED.as_dict(), "rerank": [{"signal": "tdsr", "w": 1}]})
    values = {"variants.w": [0.0, 2.0], "tdsr.w": [0.0, 1.0], "position.w": [-1.0, 0.0]}
    settings = grid.expand_grid(ranking, values)
    assert len(settings) == 8
    table = Tuner(tuned_searcher, TASKS).compute_figures(settings)
    assert table.tolist() == [figures(tuned_searcher, setting) for setting in settings]
    best = search_grid(Tuner(tuned_searcher, TASKS), ranking, values)
    assert best.figures.mean() == table.mean(axis=1).max()
    assert ascend(Tuner(tuned_searcher, TASKS), ranking, values).figures.mean() <= best.figures.mean()
