"""Parameters estimated by the likelihood of held-out words."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from math import log
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from esr import models
from esr.errors import EsrError, UsageError
from esr.folder.write.folder_writer import FolderWriter
from esr.index.filters import Filters
from esr.index.writer import Description
from esr.lab import grid, measures
from esr.lab.cross_validation import check_disjoint, cross_validate, split_folds
from esr.lab.estimation import compute_likelihoods, generate_tasks, sample_sentences
from esr.lab.grid_search import ascend, search_grid
from esr.lab.setting_ranks import rank_under_settings
from esr.lab.tuner import CompiledLoop, Task, Tuner, Workers, parse_objective, rank_relevant
from esr.models.adjustments import Adjustment
from esr.plans.evaluate import Evidence, GroupedEvidence, concatenate, score_sentences
from esr.plans.plan import Mixture, Plan
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.text.analyzer import get_analyzer
from esr.text.document import Document, Located, Sentence
from esr.topics.runs import format_lines
from tests.lab.conftest import documents, tasks
from tests.plans.test_evaluate import plans
from tests.support.elasticsearch import fresh, load


def test_the_default_grid_of_2si_is_that_of_the_paper() -> None:
    ranking = Ranking("2si", "document")
    assert len(grid.expand_grid(ranking, grid.build_default_grid(ranking))) == 12 * 9


def test_the_default_grid_of_3mm_omits_shares_above_1() -> None:
    ranking = Ranking("3mm", "document")
    assert len(grid.expand_grid(ranking, grid.build_default_grid(ranking))) == 36


def test_a_grid_omits_shares_above_1_of_a_model_that_is_a_signal() -> None:
    ranking = Ranking.from_dict({"model": "dir", "rerank": [{"signal": "2si both"}, {"signal": "bm25"}]})
    shares = {"2si both.lambda": (0.5, 0.9), "2si both.nu": (0.1, 0.4)}
    signals = [setting.rerank[0].params for setting in grid.expand_grid(ranking, shares)]
    assert [(params["lambda"], params["nu"]) for params in signals] == [(0.5, 0.1), (0.5, 0.4), (0.9, 0.1)]


def test_a_parameter_that_is_set_is_not_tuned() -> None:
    assert "mu" not in grid.build_default_grid(Ranking("2si", "document", {"mu": 3}))


def test_nu_is_tuned_only_with_both_contexts() -> None:
    assert "nu" in grid.build_default_grid(Ranking("2si", "both"))
    assert "nu" not in grid.build_default_grid(Ranking("2si", "surrounding"))


@pytest.mark.parametrize("model", models.MODELS.values(), ids=lambda m: m.name)
def test_every_value_of_a_default_grid_is_in_range(model: models.Model) -> None:
    for parameter in model.parameters:
        for value in parameter.grid:
            assert parameter.check(value) == value


def test_a_grid_is_parsed_from_text() -> None:
    assert grid.parse_grid(["mu=1,2.5", "idf=sentence,document"]) == {
        "mu": [1.0, 2.5],
        "idf": ["sentence", "document"],
    }


@pytest.mark.parametrize("text", ["mu", "mu=", "mu=,", "=1"])
def test_a_malformed_grid_is_rejected(text: str) -> None:
    with pytest.raises(UsageError):
        grid.expand_grid(Ranking("dir"), grid.parse_grid([text]))


def test_a_value_out_of_range_is_rejected_even_if_others_are_in_range() -> None:
    with pytest.raises(UsageError, match="mu"):
        grid.expand_grid(Ranking("dir"), {"mu": [1.0, 0.0]})


def test_a_grid_without_a_valid_combination_is_rejected() -> None:
    with pytest.raises(UsageError, match="no valid combination"):
        grid.expand_grid(Ranking("3mm", "document"), {"lambda": [0.9], "gamma": [0.9]})


GRID = {"mu": [1.0, 10.0, 100.0], "lambda": [0.1, 0.5, 0.9]}
START = Ranking("2si", "document")


def test_the_full_grid_finds_the_best_of_all(searcher: Searcher) -> None:
    result = search_grid(Tuner(searcher, tasks()), START, GRID)
    assert len(result.tried) == 9
    assert result.figures.mean() == max(figure for _, figure in result.tried)


def test_an_ascent_ends_where_no_single_step_improves(searcher: Searcher) -> None:
    tuner = Tuner(searcher, tasks())
    result = ascend(tuner, START, GRID)
    for name, values in GRID.items():
        for value in values:
            step = Ranking("2si", "document", {**result.ranking.params, name: value})
            assert tuner.compute_figures([step]).mean() <= result.figures.mean()


def test_an_ascent_tries_only_values_of_the_grid(searcher: Searcher) -> None:
    grid = {"mu": [900.0, 1000.0], "lambda": [0.9], "nu": [0.1]}
    result = ascend(Tuner(searcher, tasks()), Ranking("2si", "both"), grid)
    assert all(setting.params[name] in values for setting, _ in result.tried for name, values in grid.items())


def test_computed_figures_are_cached(searcher: Searcher) -> None:
    tuner = Tuner(searcher, tasks())
    result = search_grid(tuner, START, GRID)
    tuner.cache.get = None  # type: ignore[method-assign,assignment]  # no more candidates are retrieved
    assert search_grid(tuner, START, GRID).tried == result.tried
    assert np.array_equal(
        tuner.select_tasks([3, 5]).compute_figures([result.ranking])[0], result.figures[[3, 5]]
    )


def test_tuning_without_memory_for_candidates_gives_the_same(searcher: Searcher) -> None:
    cached, uncached = Tuner(searcher, tasks()), Tuner(searcher, tasks(), memory=0)
    assert search_grid(cached, START, GRID).tried == search_grid(uncached, START, GRID).tried


@pytest.mark.slow
def test_tuning_in_several_processes_gives_the_same(index_path: Path, searcher: Searcher) -> None:
    ticks: list[int] = []
    with Workers(str(index_path), 2) as workers:
        alone, shared = Tuner(searcher, tasks()), Tuner(searcher, tasks(), workers=workers)
        assert search_grid(shared, START, GRID, ticks.append).tried == search_grid(alone, START, GRID).tried
        assert sum(ticks) == len(tasks())
        first, second = (cross_validate(each, START, GRID, "ascent", 3, {}) for each in (alone, shared))
    assert np.array_equal(first.figures, second.figures)


@pytest.mark.slow
def test_a_dead_worker_is_told(index_path: Path, searcher: Searcher) -> None:
    def kill_worker(_: int) -> None:
        for worker in multiprocessing.active_children():  # none after the first topic
            worker.kill()

    with Workers(str(index_path), 1) as workers, pytest.raises(EsrError, match="a worker process died"):
        tuner = Tuner(searcher, tasks(), workers=workers)
        tuner.compute_figures([START], kill_worker)
        tuner.compute_figures([Ranking("dir")])


def test_every_topic_is_in_one_fold() -> None:
    folds = split_folds(tasks(), 4, {})
    assert sorted(position for fold in folds for position in fold) == list(range(12))
    assert folds == split_folds(tasks(), 4, {})


def test_a_group_is_never_split() -> None:
    groups = {task.topic: str(n % 5) for n, task in enumerate(tasks())}
    for fold in split_folds(tasks(), 3, groups):
        inside = {groups[tasks()[position].topic] for position in fold}
        outside = {groups[t.topic] for n, t in enumerate(tasks()) if n not in fold}
        assert not inside & outside


def test_more_folds_than_groups_are_rejected() -> None:
    with pytest.raises(UsageError, match="the number of folds must be from 2 to 12"):
        split_folds(tasks(), 13, {})


def test_a_fold_is_tested_with_the_best_setting_of_the_others(searcher: Searcher) -> None:
    tuner = Tuner(searcher, tasks())
    validation = cross_validate(tuner, START, GRID, "grid", 3, {})
    for fold, setting in zip(split_folds(tasks(), 3, {}), validation.settings, strict=True):
        rest = [n for n in range(12) if n not in fold]
        assert setting == search_grid(tuner.select_tasks(rest), START, GRID).ranking
        assert np.array_equal(
            validation.figures[fold], tuner.select_tasks(fold).compute_figures([setting])[0]
        )


def test_topics_in_both_training_and_test_are_rejected() -> None:
    with pytest.raises(UsageError, match="both training and test"):
        check_disjoint(tasks(), [Task("t3", "another query", ("a",))])
    with pytest.raises(UsageError, match="both training and test"):
        check_disjoint(tasks(), [Task("z", tasks()[0].query.upper(), ("a",))])
    check_disjoint(tasks(), [Task("z", "another query", ("a",))])


MEASURES = ["AP", "RR", "RPrec", "P@10", "P@3", "R@5", "R@1000"]
RANKINGS = [
    Ranking("tfisf"),
    Ranking("dir", params={"mu": 3}),
    Ranking("2si", "both", {"mu": 20}),
    Ranking("2si", "document", {"lambda": 0.6}, {"length": 1.0}),
    Ranking("bm25", priors={"importance": 0.3}, candidates="context"),
    Ranking("tfisf", features=(Adjustment("len", "linear", {"w": 1e39}),)),  # infinite in single precision
]


def figures_of_a_run(searcher: Searcher, ranking: Ranking, name: str, depth: int) -> dict[str, float]:
    """The figures by topic from an evaluation of the run file."""
    figures = {}
    for task in tasks():
        hits = searcher.search(task.query, depth, ranking=ranking, filters=Filters(), records=False).hits
        lines = [line.split() for line in format_lines(task.topic, hits, "x")]
        run = {task.topic: {line[2]: float(line[4]) for line in lines}}
        qrels = {task.topic: dict.fromkeys(task.relevant, 1)}
        figures[task.topic] = measures.evaluate([name], qrels, run)[name][task.topic]
    return figures


@pytest.mark.slow
@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("ranking", RANKINGS, ids=lambda r: r.model)
@pytest.mark.parametrize("depth", [1000, 7])
def test_tuning_figures_equal_those_of_an_evaluated_run_exactly(
    searcher: Searcher, ranking: Ranking, name: str, depth: int
) -> None:
    table = Tuner(searcher, tasks(), name, depth).compute_figures([ranking])
    assert dict(zip((t.topic for t in tasks()), table[0].tolist(), strict=True)) == figures_of_a_run(
        searcher, ranking, name, depth
    )


GRIDS = [
    Ranking("2si", "both"),
    Ranking("3mm", "document", priors={"importance": 0.3}),
    Ranking("bm25", candidates="context"),
    Ranking("tfmix", "both", features=(Adjustment("len", "log", {"w": 2.0}),)),
    RANKINGS[-1],
]


@pytest.mark.slow
@pytest.mark.parametrize("ranking", GRIDS, ids=lambda r: r.model)
@pytest.mark.parametrize("depth", [1000, 7])
def test_the_compiled_loop_gives_the_same_figures(searcher: Searcher, ranking: Ranking, depth: int) -> None:
    settings = [*grid.expand_grid(ranking, grid.build_default_grid(ranking))[::5], ranking, ranking]
    by_numpy, compiled = Tuner(searcher, tasks(), depth=depth), Tuner(searcher, tasks(), depth=depth)
    compiled.cache.compiled.function = rank_under_settings
    assert compiled.compute_figures(settings).tolist() == by_numpy.compute_figures(settings).tolist()


def test_the_compiled_loop_is_loaded_when_it_pays(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    seldom = Tuner(searcher, tasks(number=1))
    seldom.compute_figures([START])
    monkeypatch.setattr("esr.lab.tuner.LOAD_AFTER", 0.0)
    often = Tuner(searcher, tasks(number=1))
    often.compute_figures([START])
    assert seldom.cache.compiled.function is None
    assert often.cache.compiled.function is rank_under_settings


class CountingLock(AbstractContextManager[None]):
    entries = 0

    def __exit__(self, *_: object) -> None:
        self.entries += 1


def test_the_compiled_loop_is_locked_for_its_first_call_only() -> None:
    lock = CountingLock()
    loop = CompiledLoop(lock)
    for _ in range(3):
        with loop.hold_lock():
            pass
    assert lock.entries == 1


@pytest.mark.slow
@given(plans(), st.integers(1, 12), st.sets(st.integers(0, 14)), st.floats(0.5, 3))
def test_the_ranks_under_many_settings_are_those_of_exact_scores(
    case: tuple[Plan, Evidence], depth: int, relevant: set[int], factor: float
) -> None:
    plan, evidence = case
    evidence = concatenate([evidence, lengthened(evidence, 1e-8), lengthened(evidence, 2e-7)])
    rows = np.array(sorted(row for row in relevant if row < len(evidence.lengths["sentence"])), np.intp)
    share = {"constant" if isinstance(plan.transform, Mixture) else "share": factor}
    other = replace(plan.transform, sentence=plan.transform.sentence._replace(**share))
    heavier = tuple(term._replace(weight=factor * term.weight) for term in plan.terms)
    settings = [plan, replace(plan, transform=other), replace(plan, terms=heavier), plan]
    candidates: Any = SimpleNamespace(relevant=rows, sentence_id=lambda row: str(row * 7 % 15))
    found = rank_under_settings(GroupedEvidence(evidence), rows, candidates.sentence_id, settings, depth)
    for setting, ranks in zip(settings, found, strict=True):
        if ranks is not None:
            exact = rank_relevant(candidates, score_sentences(setting, evidence), depth)
            assert ranks.tolist() == exact.tolist()


def lengthened(evidence: Evidence, share: float) -> Evidence:
    """Evidence whose scores differ by no more than single precision does."""
    lengths = {field: numbers * (1.0 + share) for field, numbers in evidence.lengths.items()}
    return Evidence(evidence.counts, lengths, evidence.columns)


@pytest.mark.slow
def test_a_topic_without_an_indexed_word_scores_zero(searcher: Searcher) -> None:
    unmatched = [Task("t", "unheardof", ("d0.s0",)), Task("u", "...", ("d0.s0",))]
    assert Tuner(searcher, unmatched).compute_figures([Ranking()]).tolist() == [[0.0, 0.0]]


@pytest.mark.slow
def test_a_topic_without_an_indexed_word_has_the_figure_of_its_run_if_all_are_candidates(
    searcher: Searcher,
) -> None:
    ranking = Ranking("dir", priors={"length": 1.0}, candidates="all")
    hits = searcher.search("unheardof", 1000, ranking=ranking, literal=True).hits
    best, run = hits[0].sentence_id, {"t": {hit.sentence_id: hit.score for hit in hits}}
    figure = measures.evaluate(["RR"], {"t": {best: 1}}, run)["RR"]["t"]
    figures = Tuner(searcher, [Task("t", "unheardof", (best,))], "RR").compute_figures([ranking, ranking])
    assert figures.tolist() == [[figure], [figure]] != [[0.0], [0.0]]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["nDCG@10", "P@0", "", "P@x"])
def test_a_measure_that_ranks_do_not_determine_is_rejected(name: str) -> None:
    with pytest.raises(UsageError, match="cannot tune for"):
        parse_objective(name)


SENTENCES = {
    f"d{n}": tuple(" ".join(f"w{n}x{at}x{word}" for word in range(12)) for at in range(5)) for n in range(40)
}
"""Every word is unique, so that a query word identifies the sentence it was counts from."""


def index_of(folder: Path, texts: dict[str, tuple[str, ...]], analyzer: str = "plain") -> Path:
    documents = [
        Document(name, tuple(Sentence(f"{name}.s{n}", text) for n, text in enumerate(sentences)))
        for name, sentences in texts.items()
    ]
    FolderWriter(folder / "index", Description(analyzer, True)).load(
        Located("sample", document) for document in documents
    )
    return folder / "index"


@pytest.fixture(scope="module")
def estimated_index_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_of(tmp_path_factory.mktemp("pseudo"), SENTENCES)


def source_shares(index_path: Path) -> dict[str, float]:
    """The share of query words by the index_path in the collection that they come from."""
    counts = dict.fromkeys(("own", "near", "document", "foreign"), 0)
    with open_searcher(str(index_path)) as searcher:
        for task in generate_tasks(searcher.index, 600, seed=3):
            document, position = task.relevant[0].split(".s")
            for word in task.query.split():
                home, sentence, _ = word[1:].split("x")
                if f"d{home}" != document:
                    counts["foreign"] += 1
                elif sentence == position:
                    counts["own"] += 1
                else:
                    counts["near" if abs(int(sentence) - int(position)) == 1 else "document"] += 1
    return {name: count / sum(counts.values()) for name, count in counts.items()}


def test_half_of_the_words_are_foreign_and_most_others_come_from_the_sentence(
    estimated_index_path: Path,
) -> None:
    shares = source_shares(estimated_index_path)
    assert shares["foreign"] == pytest.approx(0.5, abs=0.03)
    assert shares["own"] == pytest.approx(0.4, abs=0.03)
    assert shares["near"] > shares["document"] > 0.01


def test_pseudo_topics_are_reproducible_and_depend_on_the_seed(estimated_index_path: Path) -> None:
    with open_searcher(str(estimated_index_path)) as searcher:
        first, repeated, other = (generate_tasks(searcher.index, 50, seed) for seed in (1, 1, 2))
    assert first == repeated
    assert first != other
    assert len({task.topic for task in first}) == 50


def test_words_are_unstemmed_and_exclude_stop_words(tmp_path: Path) -> None:
    texts = {"d": ("The earthquakes destroyed buildings, hospitals and roads.",)}
    with open_searcher(str(index_of(tmp_path, texts, "english"))) as searcher:
        tasks = generate_tasks(searcher.index, 20)
    words = {word for task in tasks for word in task.query.split()}
    assert words <= {"earthquakes", "destroyed", "buildings", "hospitals", "roads"}
    assert all(get_analyzer("english").terms(word) for word in words)


def test_words_of_any_script_keep_their_terms(tmp_path: Path) -> None:
    texts = {"d": ("U.S. troops left बैंक के पास, said Trump\u2019s cafe\u0301 中国经济",)}
    with open_searcher(str(index_of(tmp_path, texts, "multilingual"))) as searcher:
        tasks = generate_tasks(searcher.index, 40)
        terms = set(searcher.index.analyzer.terms(texts["d"][0]))
    words = {word for task in tasks for word in task.query.split()}
    assert {"U.S", "बैंक", "中国", "经济"} <= words
    assert {term for word in words for term in get_analyzer("multilingual").terms(word)} == terms


@pytest.mark.parametrize(
    "texts", [{}, {"d": ()}, {"d": ("one two three four",)}], ids=["no", "empty", "short"]
)
def test_a_collection_without_a_long_sentence_is_rejected(
    tmp_path: Path, texts: dict[str, tuple[str, ...]]
) -> None:
    with (
        open_searcher(str(index_of(tmp_path, texts))) as searcher,
        pytest.raises(UsageError, match="no sentence with 5 terms"),
    ):
        generate_tasks(searcher.index, 10)


ALL = 60  # as many sentences as there are documents: one of each is sample


def test_the_likelihood_of_dir_predicts_each_word_from_the_others(searcher: Searcher) -> None:
    mu = 7.0
    counts = Counter(word for d in documents() for s in d.sentences for word in s.text.split())
    total = counts.total()
    by_id = {s.id: s.text.split() for d in documents() for s in d.sentences}
    sample = sample_sentences(searcher.index, ALL, seed=0)
    sums, words = 0.0, 0
    for sentence in sample:
        terms = by_id[sentence.id]
        for word in terms:
            p = counts[word] / total
            sums += log((terms.count(word) - 1 + mu * p) / (len(terms) - 1 + mu))
            words += 1
    table = compute_likelihoods(searcher.index, [Ranking("dir", params={"mu": mu})], ALL)
    assert table[0] == pytest.approx(sums / words, rel=1e-12)


def test_context_raises_the_likelihood(searcher: Searcher) -> None:
    settings = [Ranking("2si", "document", {"mu": 5.0, "lambda": share}) for share in (0.0, 0.5)]
    without, with_context = compute_likelihoods(searcher.index, settings, ALL)
    assert with_context > without


def test_the_same_seed_gives_the_same_figures(searcher: Searcher) -> None:
    settings = [Ranking("3mm", "both")]
    tables = [compute_likelihoods(searcher.index, settings, 20, seed) for seed in (4, 4, 5)]
    assert np.array_equal(tables[0], tables[1])
    assert not np.array_equal(tables[0], tables[2])


def test_a_model_without_probabilities_is_rejected(searcher: Searcher) -> None:
    with pytest.raises(UsageError, match="bm25 has no probabilities"):
        compute_likelihoods(searcher.index, [Ranking("bm25")], 10)


def test_priors_and_features_make_no_difference(searcher: Searcher) -> None:
    features = (Adjustment("len", "log"),)
    settings = [Ranking("dir"), Ranking("dir", priors={"length": 1.0}), Ranking("dir", features=features)]
    alone, with_prior, with_feature = (
        compute_likelihoods(searcher.index, [setting], 10)[0] for setting in settings
    )
    assert alone == with_prior == with_feature


def test_the_weight_of_a_feature_cannot_be_estimated(searcher: Searcher) -> None:
    settings = [Ranking("dir", features=(Adjustment("len", "log", {"w": w}),)) for w in (0.1, 1.0)]
    with pytest.raises(UsageError, match=r"tells nothing of features.*--from pseudo-topics"):
        compute_likelihoods(searcher.index, settings, 10)


# Tuning and estimation give identical numbers on both engines.


ENGINES_GRID = {"mu": [1.0, 10.0, 100.0], "lambda": [0.1, 0.5], "nu": [0.0, 0.4]}
ENGINES_START = Ranking("2si", "both")


@pytest.fixture(scope="module")
def both(elasticsearch_url: str, index_path: Path) -> Iterator[list[Searcher]]:
    with fresh(elasticsearch_url) as index:
        load(index, documents(), analyzer="plain", shards=3)
        with open_searcher(str(index_path)) as embedded, open_searcher(index) as elasticsearch:
            yield [embedded, elasticsearch]


@pytest.mark.elasticsearch
def test_tuning_gives_the_same_figures_on_both_engines(both: list[Searcher]) -> None:
    first, second = (search_grid(Tuner(searcher, tasks()), ENGINES_START, ENGINES_GRID) for searcher in both)
    assert first.tried == second.tried
    assert np.array_equal(first.figures, second.figures)


@pytest.mark.elasticsearch
def test_folds_select_the_same_settings_on_both_engines(both: list[Searcher]) -> None:
    first, second = (
        cross_validate(Tuner(searcher, tasks()), ENGINES_START, ENGINES_GRID, "ascent", 3, {})
        for searcher in both
    )
    assert first.settings == second.settings
    assert np.array_equal(first.figures, second.figures)


@pytest.mark.elasticsearch
def test_pseudo_topics_are_the_same_on_both_engines(both: list[Searcher]) -> None:
    first, second = (generate_tasks(searcher.index, 40, seed=2) for searcher in both)
    assert first == second


@pytest.mark.elasticsearch
def test_the_likelihood_is_the_same_on_both_engines(both: list[Searcher]) -> None:
    settings = [Ranking("2si", "both", {"mu": mu}) for mu in (3.0, 30.0)]
    first, second = (compute_likelihoods(searcher.index, settings, 30) for searcher in both)
    assert np.array_equal(first, second)
