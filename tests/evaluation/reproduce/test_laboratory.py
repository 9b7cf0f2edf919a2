from dataclasses import replace

import numpy as np
import pytest

from esr.evaluation.reproduce import indexes, readings
from esr.evaluation.reproduce.laboratory import Laboratory
from esr.evaluation.reproduce.protocol import Protocol
from esr.evaluation.reproduce.systems import SYSTEMS, with_prior
from esr.evaluation.tuning import grid as grids
from esr.models.bm25 import K1_GRID
from esr.models.likelihood import MU_GRID
from esr.ranking.ranking import Ranking
from tests.evaluation.reproduce.conftest import GRID


def test_the_setting_that_is_chosen_tests_best_on_its_own_year(laboratory):
    trained = laboratory.train()
    spread = 0.0
    for name in ("bm25", "2si document", with_prior("3mm surrounding"), "tfmix document", "jm + length"):
        start = replace(SYSTEMS[name].ranking, candidates="matching")
        grid = {parameter: GRID[parameter] for parameter in grids.default(start)}
        every = [laboratory.test(ranking).means["AP"] for ranking in grids.settings(start, grid)]
        assert trained[name].figure == pytest.approx(max(every), abs=1e-12)
        assert trained[name].tried == len(every) > 1
        assert laboratory.test(trained[name].ranking).means["AP"] == pytest.approx(max(every), abs=1e-12)
        spread = max(spread, max(every) - min(every))
    assert spread > 0.001


def test_bm25f_takes_the_k1_of_the_tuned_bm25(laboratory):
    trained = laboratory.train()
    for context in ("document", "surrounding"):
        k1 = trained[f"bm25f {context}"].ranking.params["k1"]
        assert k1 == trained["bm25"].ranking.params["k1"] in GRID["k1"]


def test_systems_without_a_grid_are_taken_as_they_are(laboratory):
    trained = laboratory.train()
    assert dict(trained["okapi"].ranking.params) == {"k1": 1.2, "b": 0.75, "k3": 0.0}
    assert [trained[name].tried for name in ("okapi", "tfisf", "idfdoc")] == [1, 1, 1]


def test_the_grids_are_those_of_the_papers():
    sizes = {
        name: len(grids.settings(system.ranking, grids.default(system.ranking)))
        for name, system in SYSTEMS.items()
    }
    assert (sizes["jm"], sizes["dir"], sizes["kld"], sizes["3mm document"]) == (9, 12, 12, 36)
    assert sizes["2s surrounding"] == sizes["2si document"] == sizes[with_prior("2si document")] == 108
    assert (sizes["bm25"], sizes["tfmix document"]) == (121, 11)
    assert pytest.approx([1 + n / 10 for n in range(11)]) == K1_GRID
    assert MU_GRID == (1, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000)


def test_only_sentences_of_the_topics_documents_are_ranked(years, work):
    ranking = Ranking("tfisf", candidates="matching")
    with indexes.opened(years["2003"], work, "year") as parts:
        laboratory = Laboratory(years["2003"], parts, Protocol())
        wide, run = laboratory.run(ranking, restricted=False), laboratory.run(ranking)
    for topic, scores in run.items():
        assert set(scores) <= set(years["2003"].sentences(topic))
    assert any(set(wide[topic]) - set(years["2003"].sentences(topic)) for topic in wide)


def test_the_average_length_is_of_the_best_sentences_of_each_topic(laboratory, years, monkeypatch):
    monkeypatch.setattr("esr.evaluation.reproduce.laboratory.TOP", 7)
    ranking = Ranking("dir", priors={"length": 1.0}, candidates="matching")
    lengths = years["2003"].lengths
    means = [np.mean([lengths[s] for s in list(scores)[:7]]) for scores in laboratory.run(ranking).values()]
    assert laboratory.test(ranking).top_length == pytest.approx(np.mean(means))
    plain = Ranking("dir", candidates="matching")
    assert laboratory.test(plain).top_length < laboratory.test(ranking).top_length


@pytest.mark.parametrize(
    ("ranked", "alone", "context"),
    [("matching", "matching", "matching"), ("context", "matching", "all"), ("all", "all", "all")],
)
def test_which_sentences_are_ranked_is_an_option(ranked, alone, context):
    protocol = Protocol(ranked=ranked)
    assert {protocol.candidates(name) for name in ("jm", "dir", "tfisf", "bm25")} == {alone}
    assert {protocol.candidates(name) for name in ("3mm", "2s", "2si", "tfmix", "bm25f")} == {context}


def test_statistics_of_topics_are_those_of_their_own_documents(years, work):
    protocol = Protocol(statistics="topic", grid=GRID)
    with indexes.opened(years["2003"], work, "topic") as parts:
        assert [len(part.tasks) for part in parts] == [1, 1, 1, 1]
        sizes = [part.searcher.index.statistics([]).collection.sentences for part in parts]
        assert sizes == [60, 72, 60, 60]
        laboratory = Laboratory(years["2003"], parts, protocol)
        trained = laboratory.train()["2si document"]
        assert laboratory.test(trained.ranking).means["AP"] == pytest.approx(trained.figure, abs=1e-12)
        assert set(laboratory.test(trained.ranking).values["AP"]) == {"N1", "N2", "N3", "N4"}


def test_the_readings_of_the_protocol_differ(years, work):
    found = readings.measure(years["2003"], work, 1000)
    assert found["matching, year"] < found["all, year"]
    assert found[readings.TOGETHER] < found["matching, year"]
    assert set(found) == {
        "matching, year", "all, year", readings.TOGETHER, "matching, topic", "all, topic"
    }  # fmt: skip


def test_indexes_are_taken_up_again_until_the_documents_change(years, tmp_path):
    year = years["2003"]
    with indexes.opened(year, tmp_path, "year") as (part,):
        before = part.searcher.index.status()["generation"]
    with indexes.opened(year, tmp_path, "year") as (part,):
        assert part.searcher.index.status()["generation"] == before
    with indexes.opened(replace(year, documents=year.documents[1:]), tmp_path, "year") as (part,):
        assert part.searcher.index.status()["documents"] == 19
