from __future__ import annotations

from collections.abc import Iterator

import pytest

import esr
from esr import features, models, priors
from esr.documents import Document, Sentence
from esr.errors import UsageError
from esr.ranking.explain import explain
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher
from esr.ranking.signal_types import find_signal_type, signal_types
from tests.support.elasticsearch import load

MODELS = [t.name for t in signal_types().values() if t.group == "models"]


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    where = str(tmp_path_factory.mktemp("signal_types") / "index")
    texts = ["flood rose north", "bank of the flood flood", "the", "north wind", "flood", "wind wind bank"]
    sentences = tuple(
        Sentence(f"a.s{n}", text, features={"subj": n / 2} if n != 3 else {}) for n, text in enumerate(texts)
    )
    load(where, [Document("a", sentences), Document("b", (Sentence("b.s0", "north flood bank stood"),))])
    with esr.open(where) as searcher:
        yield searcher


def test_every_model_that_needs_no_second_stage_is_a_signal_in_each_context() -> None:
    assert {name.split()[0] for name in MODELS} == {
        m.name for m in models.MODELS.values() if not m.second_stage
    }
    assert {"2si both", "2si document", "2si surrounding", "dir"} <= set(MODELS)
    assert [name for name in signal_types() if name.startswith("prior ")] == [
        f"prior {p}" for p in priors.PRIORS
    ]
    assert not set(features.FEATURES) & set(signal_types())


@pytest.mark.parametrize("name", MODELS)
def test_a_model_as_a_signal_gives_its_own_score(searcher: Searcher, name: str) -> None:
    model, _, context = name.partition(" ")
    model_alone = Ranking(model, context or None)
    as_signal = Ranking.from_dict({"model": "dir", "rerank": [{"signal": name, "w": 0.5}]})
    for hit in searcher.search("flood flood north unseen", ranking=as_signal).hits:
        explanation = explain(searcher.prepare("flood flood north unseen", as_signal), hit.sentence_id)
        expected = explain(searcher.prepare("flood flood north unseen", model_alone), hit.sentence_id).score
        assert explanation.second is not None
        assert explanation.second.signals[0].value == pytest.approx(expected, abs=1e-12)
        assert hit.score == pytest.approx(explanation.first + 0.5 * expected, abs=1e-12)


def test_parameters_of_the_model_are_parameters_of_the_signal(searcher: Searcher) -> None:
    name, data = "2si document", {"signal": "2si document", "w": 1, "mu": 7, "lambda": 0.4}
    model_alone = Ranking("2si", "document", {"mu": 7.0, "lambda": 0.4})
    second = explain(
        searcher.prepare("flood", Ranking.from_dict({"model": "dir", "rerank": [data]})), "a.s1"
    ).second
    assert second is not None
    assert second.signals[0].value == pytest.approx(
        explain(searcher.prepare("flood", model_alone), "a.s1").score
    )
    assert "nu" not in {p.name for p in find_signal_type(name).parameters}
    with pytest.raises(UsageError, match="unknown parameter of 2si document 'nu'"):
        Ranking.from_dict({"rerank": [{"signal": name, "nu": 0.1}]})


def test_a_prior_and_a_feature_add_their_value_and_nothing_where_there_is_none(searcher: Searcher) -> None:
    rerank = [{"signal": "feature subj", "w": 10}, {"signal": "prior length", "w": 2}]
    ranking = Ranking.from_dict({"candidates": "all", "rerank": rerank})
    as_prior = Ranking.from_dict({"candidates": "all", "priors": {"length": 2}})
    for position, subj in ((1, 0.5), (3, None), (5, 2.5)):
        explanation = explain(searcher.prepare("flood", ranking), f"a.s{position}")
        assert explanation.second is not None
        feature, length = explanation.second.signals
        assert (feature.value, feature.adds) == (subj, 10 * (subj or 0.0))
        assert length.adds == pytest.approx(
            explain(searcher.prepare("flood", as_prior), f"a.s{position}").priors[0].adds
        )
    empty = explain(searcher.prepare("flood", ranking), "a.s2").second  # only a stop word
    assert empty is not None
    assert (empty.signals[1].value, empty.signals[1].adds) == (None, 0.0)
    assert "a.s2" in {hit.sentence_id for hit in searcher.search("flood", ranking=ranking).hits}


def test_an_unknown_signal_or_feature_is_named_with_the_nearest(searcher: Searcher) -> None:
    with pytest.raises(UsageError, match="unknown signal '2si boht': did you mean '2si both'"):
        Ranking.from_dict({"rerank": [{"signal": "2si boht"}]})
    ranking = Ranking.from_dict({"rerank": [{"signal": "feature sbj"}]})
    with pytest.raises(UsageError, match="did you mean 'subj'"):
        searcher.search("flood", ranking=ranking)
