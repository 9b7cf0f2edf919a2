from __future__ import annotations

import math

import pytest

from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher

VARIANTS = Ranking("jm", boosts={"variants": 0.2})


def weights(searcher: Searcher, query: str, ranking: Ranking = VARIANTS) -> dict[str, tuple[float, bool]]:
    plan = searcher.prepare(query, ranking).plan
    return {term.term: (term.weight, term.own) for term in plan.terms}


def test_terms_that_begin_alike_are_added_at_the_boosts_weight(searcher: Searcher) -> None:
    """migrants, migraine and migratory share less than "migrati"; migrationist has three letters more."""
    assert weights(searcher, "migration") == {
        "migration": (1.0, True),
        "migrating": (0.2, False),
        "migrations": (0.2, False),
    }


def test_a_repeated_terms_variants_weigh_as_often_and_those_of_two_terms_add_up(searcher: Searcher) -> None:
    assert weights(searcher, "migrations migrations")["migration"] == (0.4, False)
    weights_by_term = weights(searcher, "migration migrations")
    assert weights_by_term["migrations"] == (1.0, True)
    assert weights_by_term["migrating"] == (0.2, False)
    weights_by_term = weights(searcher, "bank migrationx migrationy")  # nobody has the last two
    assert (weights_by_term["migration"], weights_by_term["migrations"]) == ((0.4, False), (0.4, False))


def test_numbers_and_short_terms_have_none(searcher: Searcher) -> None:
    assert set(weights(searcher, "migration22 bank")) == {"migration22", "bank"}
    assert set(weights(searcher, "bird bank")) == {"bank"}  # there is "birds"
    assert set(weights(searcher, "migra bank")) == {"bank"}  # what begins so has three letters more


def test_a_word_that_nobody_has_still_has_variants(searcher: Searcher) -> None:
    prepared = searcher.prepare("bank migrationa", VARIANTS)
    assert prepared.unseen == ("migrationa",)
    assert [term.term for term in prepared.plan.terms][:2] == ["bank", "migration"]


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
