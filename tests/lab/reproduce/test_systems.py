from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs

from esr.errors import UsageError
from esr.lab.grid import build_default_grid, expand_grid
from esr.lab.reproduce.experiment import POOLED, measure_interpretations
from esr.lab.reproduce.systems import SYSTEMS, Protocol, YearExperiment, open_indexes, with_prior
from esr.models.adjustment import Adjustment
from esr.models.bm25 import K1_GRID
from esr.models.likelihood import MU_GRID
from esr.ranking.ranking import Ranking
from tests.lab.reproduce.conftest import GRID

pytestmark = pytest.mark.slow


def test_training_selects_the_parameters_that_test_best_on_their_own_year(year_experiment):
    trained = year_experiment.train()
    spread = 0.0
    for name in ("bm25", "2si document", with_prior("3mm surrounding"), "tfmix document", "jm + length"):
        start = structs.replace(SYSTEMS[name].ranking, candidates="matching")
        grid = {parameter: GRID[parameter] for parameter in build_default_grid(start)}
        figures = [year_experiment.test(ranking).means["AP"] for ranking in expand_grid(start, grid)]
        assert trained[name].figure == pytest.approx(max(figures), abs=1e-12)
        assert trained[name].tried == len(figures) > 1
        assert year_experiment.test(trained[name].ranking).means["AP"] == pytest.approx(
            max(figures), abs=1e-12
        )
        spread = max(spread, max(figures) - min(figures))
    assert spread > 0.001


def test_bm25f_inherits_k1_from_the_tuned_bm25(year_experiment):
    trained = year_experiment.train()
    for context in ("document", "surrounding"):
        k1 = trained[f"bm25f {context}"].ranking.params["k1"]
        assert k1 == trained["bm25"].ranking.params["k1"] in GRID["k1"]


def test_systems_without_a_grid_are_not_tuned(year_experiment):
    trained = year_experiment.train()
    assert dict(trained["okapi"].ranking.params) == {"k1": 1.2, "b": 0.75, "k3": 0.0}
    assert [trained[name].tried for name in ("okapi", "tfisf", "idfdoc")] == [1, 1, 1]


def test_the_grids_have_the_sizes_in_the_papers():
    sizes = {
        name: len(expand_grid(system.ranking, build_default_grid(system.ranking)))
        for name, system in SYSTEMS.items()
    }
    assert (sizes["jm"], sizes["dir"], sizes["kld"], sizes["3mm document"]) == (9, 12, 12, 36)
    assert sizes["2s surrounding"] == sizes["2si document"] == sizes[with_prior("2si document")] == 108
    assert (sizes["bm25"], sizes["tfmix document"]) == (121, 11)
    assert pytest.approx([1 + n / 10 for n in range(11)]) == K1_GRID
    assert MU_GRID == (1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000)


def test_only_sentences_of_the_topics_documents_are_ranked(years, work):
    ranking = Ranking("tfisf", candidates="matching")
    with open_indexes(years["2003"], work, "year") as topic_indexes:
        experiment = YearExperiment(years["2003"], topic_indexes, Protocol())
        wide, run = experiment.run(ranking, restricted=False), experiment.run(ranking)
    for topic, scores in run.items():
        assert set(scores) <= set(years["2003"].sentences(topic))
    assert any(set(wide[topic]) - set(years["2003"].sentences(topic)) for topic in wide)


def test_the_top_length_averages_the_best_sentences_of_each_topic(year_experiment, years, monkeypatch):
    monkeypatch.setattr("esr.lab.reproduce.systems.TOP", 7)
    ranking = Ranking("dir", priors={"length": 1.0}, candidates="matching")
    lengths = years["2003"].lengths
    means = [
        np.mean([lengths[s] for s in list(scores)[:7]]) for scores in year_experiment.run(ranking).values()
    ]
    assert year_experiment.test(ranking).top_length == pytest.approx(np.mean(means))
    plain = Ranking("dir", candidates="matching")
    assert year_experiment.test(plain).top_length < year_experiment.test(ranking).top_length


@pytest.mark.parametrize(
    ("ranked", "alone", "context"),
    [("matching", "matching", "matching"), ("context", "matching", "all"), ("all", "all", "all")],
)
def test_the_protocol_sets_which_sentences_are_ranked(ranked, alone, context):
    protocol = Protocol(ranked=ranked)
    assert {protocol.candidates(name) for name in ("jm", "dir", "tfisf", "bm25")} == {alone}
    assert {protocol.candidates(name) for name in ("3mm", "2s", "2si", "tfmix", "bm25f")} == {context}


def test_topic_statistics_cover_the_documents_of_the_topic(years, work):
    protocol = Protocol(statistics="topic", grid=GRID)
    with open_indexes(years["2003"], work, "topic") as topic_indexes:
        assert [len(topic_index.tasks) for topic_index in topic_indexes] == [1, 1, 1, 1]
        sizes = [
            topic_index.searcher.index.statistics([]).collection.sentences for topic_index in topic_indexes
        ]
        assert sizes == [60, 72, 60, 60]
        experiment = YearExperiment(years["2003"], topic_indexes, protocol)
        trained = experiment.train()["2si document"]
        assert experiment.test(trained.ranking).means["AP"] == pytest.approx(trained.figure, abs=1e-12)
        assert set(experiment.test(trained.ranking).values["AP"]) == {"N1", "N2", "N3", "N4"}


def test_the_interpretations_of_the_protocol_differ(years, work):
    figures = measure_interpretations(years["2003"], work, 1000)
    assert figures["matching, year"] < figures["all, year"]
    assert figures[POOLED] < figures["matching, year"]
    assert set(figures) == {
        "matching, year", "all, year", POOLED, "matching, topic", "all, topic"
    }  # fmt: skip


def test_indexes_are_reused_until_the_documents_change(years, tmp_path):
    year = years["2003"]
    with open_indexes(year, tmp_path, "year") as (topic_index,):
        before = topic_index.searcher.index.status()["generation"]
    with open_indexes(year, tmp_path, "year") as (topic_index,):
        assert topic_index.searcher.index.status()["generation"] == before
    with open_indexes(replace(year, documents=year.documents[1:]), tmp_path, "year") as (topic_index,):
        assert topic_index.searcher.index.status()["documents"] == 19


def test_a_ranking_that_cannot_be_searched_with_is_no_empty_answer(year_experiment):
    ranking = Ranking("tfisf", features=(Adjustment("subj", "linear"),))
    with pytest.raises(UsageError, match="unknown feature"):
        year_experiment.test(ranking)
