from __future__ import annotations

import math
from pathlib import Path

import pytest

from esr.errors import UsageError
from esr.models import priors
from esr.models.priors import check_weight
from esr.plans.plan import CollectionStatistics
from esr.ranking.searcher import Searcher, open_searcher
from tests.support import worked_examples as worked
from tests.support.folder_index import document, load

COLLECTION = CollectionStatistics(sentences=4, documents=2, occurrences=40)


def test_these_are_the_priors() -> None:
    assert list(priors.PRIORS) == ["importance", "importance-surrounding", "length"]
    for prior in priors.PRIORS.values():
        assert prior.description and prior.source
        assert prior.as_dict()["name"] == prior.name


def test_the_help_of_the_importance_priors_says_that_they_hurt() -> None:
    for name in ("importance", "importance-surrounding"):
        assert "hurts badly" in priors.get(name).description


def test_an_unknown_prior_is_refused_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown prior 'lenght': did you mean 'length'"):
        priors.get("lenght")


@pytest.mark.parametrize("value", ["x", None, True, math.nan, math.inf, -math.inf, [], ""])
def test_a_weight_is_a_finite_number(value: object) -> None:
    with pytest.raises(UsageError, match="the weight of prior 'length' must be a finite number"):
        check_weight("length", value)


@pytest.mark.parametrize("value", [0, -2, "0.5", 1e300])
def test_any_finite_weight_is_taken(value: object) -> None:
    assert check_weight("length", value) == float(value)  # type: ignore[arg-type]


def test_a_weight_goes_on_the_whole_log_prior() -> None:
    static = priors.get("length").static(2.0, COLLECTION)
    assert (static.weight, static.constant) == (2.0, pytest.approx(-2 * math.log(40)))
    assert priors.get("importance").static(-0.5, COLLECTION).constant == 0.0


def test_the_length_prior_of_an_empty_collection_is_a_number() -> None:
    assert math.isfinite(priors.get("length").static(1.0, CollectionStatistics()).constant)


@pytest.fixture
def searcher(tmp_path: Path) -> Searcher:
    load(tmp_path / "index", worked.documents())
    return open_searcher(str(tmp_path / "index"))


def test_a_weight_scales_what_the_prior_adds(searcher: Searcher) -> None:
    def scores(**weights: float) -> dict[str, float]:
        hits = searcher.search("china", 100, model="jm", candidates="all", priors=weights).hits
        return {hit.sentence_id: hit.score for hit in hits}

    bare, once = scores(), scores(importance=1.0)
    expected = {name: bare[name] + 0.25 * (once[name] - bare[name]) for name in bare}
    assert scores(importance=0.25) == pytest.approx(expected)
    assert scores(importance=0.0) == pytest.approx(bare)
    assert once["D1.1"] - bare["D1.1"] == pytest.approx(1.8438754703670686)


@pytest.mark.parametrize("weight", [1.0, 0.0, -1.0])
def test_the_length_prior_leaves_sentences_without_terms_out(tmp_path: Path, weight: float) -> None:
    load(tmp_path / "index", [document("A", "storm", "", "...", "storm flood")])
    with open_searcher(str(tmp_path / "index")) as searcher:
        answer = searcher.search("storm", candidates="all", priors={"length": weight})
    assert {hit.sentence_id for hit in answer.hits} == {"A.s0", "A.s3"}
    assert answer.total == 2
