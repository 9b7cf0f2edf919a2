"""The second stage: its order, its explanation, its tuning, and what it fetches."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

import esr
from esr.errors import UsageError
from esr.index.questions import EvidenceOf
from esr.lab import grid, measures
from esr.lab.grid_search import ascend
from esr.lab.training_data import list_signals
from esr.lab.tuner import Task, Tuner
from esr.ranking.explanation.explain import explain
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.ranking.second_stage.rerank_context import build_context
from esr.ranking.second_stage.reranker import merge_scores
from esr.ranking.second_stage.signals import RankingSignal
from esr.text.document import Document, ParseWord, Sentence
from tests.support.elasticsearch import close, fresh, load
from tests.support.elasticsearch import load as load_there
from tests.support.runs import SHARDS

WORDS = [f"word{n}" for n in range(12)]
QUERIES = ["word1 word2 word3", "word4 word4 word5 unseen", "word6", " ".join(WORDS)]


def documents() -> list[Document]:
    """Sentences with random trees; every fifth has none."""
    chance = random.Random(11)
    corpus = []
    for n in range(40):
        sentences = []
        for position in range(chance.randint(1, 6)):
            words = chance.choices(WORDS, k=chance.randint(0, 9))
            tree = tuple(ParseWord(w, chance.randrange(i) if i else -1) for i, w in enumerate(words))
            parse = tree if chance.random() < 0.8 else None
            sentences.append(Sentence(f"d{n}.s{position}", " ".join(words), parse=parse))
        corpus.append(Document(f"d{n}", tuple(sentences)))
    return corpus


_NODES = {
    "input": [0, 1],
    "threshold": [-0.5, 4.5],
    "missing_left": [1, 0],
    "left": [1, -1],
    "right": [-2, -3],
}
TREES: dict[str, Any] = {
    "inputs": [{"signal": "2si both"}, {"signal": "feature len"}, {"signal": "tdsr"}, {"signal": "jm"}],
    "trees": [
        {**_NODES, "value": [-1.0, 0.6, 0.25]},
        {**_NODES, "input": [3, 2], "threshold": [-0.7, 0.45], "value": [0.3, -0.2, 0.8]},
    ],
}
RANKINGS: list[dict[str, Any]] = [
    {"model": "tdsr"},
    {"model": "tdsr", "params": {"ties": "score", "sets": "contiguous", "form": "power"}},
    {"model": "fidm", "params": {"f_I": "binary"}},
    {"model": "sdm", "params": {"f_I": "tfisf", "lambda_SR": 0.5}},
    {"model": "mrf_fdm", "params": {"f_I": "jm", "proximity": "inclusive", "sr_on_ud": "yes"}},
    {"model": "2si", "rerank": [{"signal": "fdm", "w": 3.0, "alpha": 0.7}]},
    {"model": "2si", "rerank": [{"signal": "tdsr", "w": 5.0}, {"signal": "mrf_sdm"}], "depth": 20},
    {"model": "dir", "rerank": [{"signal": "sdm", "w": -2.0}], "priors": {"length": 1.0}},
    {"model": "dir", "rerank": [{"signal": "2si surrounding", "w": 0.5, "mu": 9}, {"signal": "bm25"}]},
    {"rerank": [{"signal": "feature len", "w": 0.1}, {"signal": "prior importance", "w": 0.02}], "depth": 30},
    {"trees": TREES, "depth": 25},
    {"model": "tdsr", "trees": TREES, "rerank": [{"signal": "dir", "w": 0.1}]},
]
IDS = [f"{n}-{ranking.get('model', '2si')}" for n, ranking in enumerate(RANKINGS)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> str:
    where = str(tmp_path_factory.mktemp("rerank") / "index")
    load_there(where, documents(), analyzer="plain")
    return where


@pytest.fixture
def searcher(place: str) -> Iterator[Searcher]:
    with open_searcher(place) as searcher:
        yield searcher


@pytest.mark.slow
@pytest.mark.parametrize("data", RANKINGS, ids=IDS)
@pytest.mark.parametrize("query", QUERIES)
def test_explanations_add_up_to_the_scores_of_a_search(
    searcher: Searcher, data: dict[str, Any], query: str
) -> None:
    ranking = Ranking.from_dict(data)
    hits = searcher.search(query, 20, ranking=ranking).hits
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for hit in hits[:8]:
        explanation = explain(searcher.prepare(query, ranking), hit.sentence_id)
        assert explanation.second is not None
        ties = "ties" in data.get("params", {})  # what breaks ties is no part of a score
        assert explanation.score == pytest.approx(hit.score, abs=2e-4 if ties else 1e-9)
        parts = sum(part.adds for part in explanation.second.signals) + (explanation.second.trees or 0.0)
        assert explanation.second.weight * explanation.first + parts == pytest.approx(
            explanation.score, abs=1e-12
        )


@pytest.mark.slow
@pytest.mark.parametrize("signal, bounded", [("tdsr", True), ("fdm", True), ("sdm", False)])
def test_explanations_say_where_sets_were_left_out(tmp_path: Path, signal: str, bounded: bool) -> None:
    words = [f"term{n}" for n in range(13)]
    parse = tuple(ParseWord(word, position - 1) for position, word in enumerate(words))
    where = str(tmp_path / "index")
    sentence = Sentence("a.s0", " ".join(words), parse=parse)
    load_there(where, [Document("a", (sentence,))], analyzer="plain")
    with open_searcher(where) as searcher:
        for query, expected in ((words, bounded), (words[1:], False)):
            explanation = explain(
                searcher.prepare(" ".join(query), Ranking.from_dict({"rerank": [{"signal": signal}]})), "a.s0"
            )
            assert explanation.second is not None
            assert explanation.second.signals[0].bounded == expected


@pytest.mark.slow
def test_what_lies_below_the_depth_keeps_its_order_and_stays_below(searcher: Searcher) -> None:
    base = [hit.sentence_id for hit in searcher.search(QUERIES[3], 100, model="2si").hits]
    signal = {"signal": "fdm", "w": -50.0}
    hits = searcher.search(QUERIES[3], 100, model="2si", rerank=[signal], depth=10).hits
    reranked = [hit.sentence_id for hit in hits]
    assert reranked != base
    assert sorted(reranked[:10]) == sorted(base[:10])
    assert reranked[10:] == base[10:]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    few = searcher.search(QUERIES[3], 5, model="2si", rerank=[signal], depth=10).hits
    assert [hit.sentence_id for hit in few] == reranked[:5]


@pytest.mark.slow
def test_a_signal_of_weight_zero_changes_no_score(searcher: Searcher) -> None:
    plain = searcher.search(QUERIES[0], 50, model="dir").hits
    with_signal = searcher.search(QUERIES[0], 50, model="dir", rerank=[{"signal": "fdm", "w": 0}]).hits
    assert [(h.sentence_id, h.score) for h in plain] == [(h.sentence_id, h.score) for h in with_signal]
    assert with_signal[0].record is not None


@pytest.mark.slow
def test_equal_strengths_keep_the_collections_order_or_take_the_first_stages(searcher: Searcher) -> None:
    by_order = searcher.search("word6", 50, model="tdsr").hits
    assert {hit.score for hit in by_order} == {0.5}
    assert [hit.ordinal for hit in by_order] == sorted(hit.ordinal for hit in by_order)
    by_score = searcher.search("word6", 50, model="tdsr", params={"ties": "score"}).hits
    first = {h.sentence_id: h.score for h in searcher.search("word6", 50, model="tfisf").hits}
    assert [first[h.sentence_id] for h in by_score] == sorted(first.values(), reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("signal", ["tdsr", "mrf_sdm", "mrf_fdm"])
def test_term_dependence_of_nothing_is_an_empty_answer(searcher: Searcher, signal: str) -> None:
    answer = searcher.search(esr.parse_query("+word1 -word1"), rerank=[{"signal": signal}])
    assert (answer.hits, answer.total, answer.unseen, answer.without_parse) == ([], 0, (), 0)


@pytest.mark.slow
def test_other_sentences_are_shifted_below_the_lowest_new_score() -> None:
    scores = merge_scores(np.array([5.0, 9.0, 7.0, -np.inf, 8.0]), np.array([1, 4]), np.array([0.1, 0.3]))
    assert scores.tolist() == pytest.approx([-2.9, 0.1, -0.9, -np.inf, 0.3])
    assert merge_scores(np.array([1.0]), np.array([], np.intp), np.array([])).tolist() == [1.0]


@pytest.mark.slow
@pytest.mark.parametrize("data", RANKINGS, ids=IDS)
def test_tuning_sees_the_figures_of_a_search(searcher: Searcher, data: dict[str, Any]) -> None:
    ranking = Ranking.from_dict(data)
    relevant = tuple(s.id for d in documents() for s in d.sentences if "word1 word2" in s.text)
    tasks = [Task(f"t{n}", query, relevant) for n, query in enumerate(QUERIES[:2])]
    table = Tuner(searcher, tasks).compute_figures([ranking])[0]
    for task, figure in zip(tasks, table, strict=True):
        hits = searcher.search(task.query, 1000, ranking=ranking, records=False).hits
        run = {task.topic: {hit.sentence_id: hit.score for hit in hits}}
        qrels = {task.topic: dict.fromkeys(relevant, 1)}
        assert figure == measures.evaluate(["AP"], qrels, run)["AP"][task.topic]


@pytest.mark.slow
def test_weights_of_signals_are_tuned_by_their_names(searcher: Searcher) -> None:
    relevant = tuple(s.id for d in documents() for s in d.sentences if "word1 word2" in s.text)
    ranking = Ranking.from_dict({"model": "dir", "rerank": [{"signal": "sdm"}]})
    values = grid.build_default_grid(ranking)
    assert {"mu", "mrf_sdm.w", "mrf_sdm.alpha", "mrf_sdm.lambda_SR"} <= values.keys()
    some = {"mrf_sdm.w": [0.0, 2.0], "mrf_sdm.alpha": [0.3, 0.9]}
    found = ascend(Tuner(searcher, [Task("t", QUERIES[0], relevant)]), ranking, some)
    assert found.ranking.rerank[0].params["w"] in (0.0, 2.0)
    assert len(found.tried) > 4


@pytest.mark.slow
@pytest.mark.parametrize("data", RANKINGS, ids=IDS)
def test_a_saved_ranking_keeps_its_second_stage(data: dict[str, Any]) -> None:
    saved = Ranking.from_dict(data).as_dict()
    assert Ranking.from_dict(saved).as_dict() == saved
    assert Ranking.from_dict(saved).reranker() is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"rerank": [{"signal": "tsdr"}]}, "unknown signal 'tsdr'"),
        ({"rerank": [{"signal": "tdsr", "alfa": 1}]}, "unknown parameter of tdsr 'alfa'"),
        ({"rerank": [{"signal": "tdsr", "alpha": 7}]}, "parameter 'alpha' must be a number in"),
        ({"rerank": [{"signal": "sdm"}, {"signal": "mrf_sdm"}]}, "signal 'mrf_sdm' is duplicated"),
        ({"rerank": {"signal": "sdm"}}, "ranking key 'rerank' must be a list"),
        ({"rerank": ["sdm"]}, "a signal must be a JSON object such as"),
        ({"depth": 0}, "'depth' must be a positive whole number, not 0"),
        ({"depth": True}, "'depth' must be a positive whole number, not True"),
        ({"model": "tdsr", "params": {"mu": 3}}, "unknown parameter of tdsr 'mu'"),
    ],
)
def test_an_invalid_key_is_an_error(data: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said.replace("(", r"\(")):
        Ranking.from_dict(data)


NEEDS_PARSES: list[dict[str, Any]] = [
    {"model": "tdsr"},
    {"model": "sdm"},
    {"rerank": [{"signal": "fdm"}]},
    {"trees": TREES},
]


def unparsed() -> list[Document]:
    """The same sentences, none of them parsed."""
    return [
        replace(d, sentences=tuple(replace(sentence, parse=None) for sentence in d.sentences))
        for d in documents()
    ]


def check_refusals(where: str) -> None:
    with open_searcher(where) as searcher:
        for data in NEEDS_PARSES:
            with pytest.raises(UsageError, match="has no parses: run esr enrich --only parse, or rank wi"):
                searcher.search(QUERIES[0], ranking=Ranking.from_dict(data))
        assert searcher.search(QUERIES[0], model="fidm").hits, "it needs none"
        assert not [s for s in list_signals(searcher.index, Ranking()) if s.type.group == "term dependence"]


def check_counts(where: str) -> None:
    has_none = {s.id for d in documents() for s in d.sentences if not s.parse}
    with open_searcher(where) as searcher:
        for data in NEEDS_PARSES:
            ranking = Ranking.from_dict(data)
            answer = searcher.search(QUERIES[3], 20, ranking=ranking)
            all_hits = searcher.search(QUERIES[3], 1000, ranking=ranking).hits
            lacking = has_none & {hit.sentence_id for hit in all_hits}
            assert answer.without_parse == len(lacking) > 0, data
        assert searcher.search(QUERIES[3]).without_parse is None


@pytest.mark.slow
def test_a_ranking_by_parses_is_refused_where_no_sentence_has_one(tmp_path: Path) -> None:
    where = str(tmp_path / "unparsed")
    load_there(where, unparsed(), analyzer="plain")
    check_refusals(where)


@pytest.mark.slow
def test_an_answer_says_how_many_of_its_sentences_lack_a_parse(place: str) -> None:
    check_counts(place)


@pytest.mark.slow
@pytest.mark.elasticsearch
def test_elasticsearch_also_knows_which_parses_it_has(elasticsearch_url: str) -> None:
    with fresh(elasticsearch_url) as where:
        load_there(where, unparsed(), analyzer="plain")
        check_refusals(where)
    with fresh(elasticsearch_url) as where:
        load_there(where, documents(), analyzer="plain", shards=2)
        check_counts(where)


@pytest.mark.slow
@pytest.mark.elasticsearch
@pytest.mark.parametrize("shards", SHARDS)
def test_both_engines_rerank_alike(elasticsearch_url: str, place: str, shards: int) -> None:
    with fresh(elasticsearch_url) as where:
        load_there(where, documents(), analyzer="plain", shards=shards)
        with open_searcher(place) as embedded, open_searcher(where) as elasticsearch:
            for data in RANKINGS:
                for query in QUERIES:
                    ranking = Ranking.from_dict(data)
                    ours = embedded.search(query, 200, ranking=ranking).hits
                    theirs = elasticsearch.search(query, 200, ranking=ranking).hits
                    assert {h.sentence_id for h in ours} == {h.sentence_id for h in theirs}
                    scores = {h.sentence_id: h.score for h in theirs}
                    assert all(close(h.score, scores[h.sentence_id]) for h in ours), (data, query)
                    assert [h.ordinal for h in ours if h.ordinal < 0] == []


def test_evidence_of_more_terms_or_in_another_order_gives_the_same_scores(tmp_path: Path) -> None:
    load(str(tmp_path / "index"), documents(), analyzer="plain")
    with open_searcher(str(tmp_path / "index")) as searcher:
        prepared = searcher.prepare(QUERIES[0], Ranking())
        ids = [hit.sentence_id for hit in searcher.search(QUERIES[0], 30).hits]
        context = build_context(searcher.index, prepared.counts, prepared.statistics, ids, ())
        terms = ["word9", *reversed(context.terms)]
        evidence = searcher.index.read(ids, EvidenceOf(terms))
        other = replace(context, terms=terms, evidence=lambda: evidence)
        for name in ("dir", "bm25f both"):
            signal = RankingSignal(name)
            assert signal.values(other) == pytest.approx(signal.values(context), abs=1e-12)
            assert len(np.unique(signal.values(context))) > 5


def test_hits_are_looked_up_by_their_ordinals_and_not_by_their_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(str(tmp_path / "index"), documents(), analyzer="plain")
    with open_searcher(str(tmp_path / "index")) as searcher:
        prepared = searcher.prepare(QUERIES[0], Ranking())
        hits = searcher.search(QUERIES[0], 30).hits[::-1]
        ids, ordinals = [hit.sentence_id for hit in hits], [hit.ordinal for hit in hits]
        by_id = build_context(searcher.index, prepared.counts, prepared.statistics, ids, ()).evidence()
        monkeypatch.delattr("esr.folder.index.find_sentence")
        by_place = build_context(
            searcher.index, prepared.counts, prepared.statistics, ids, (), ordinals
        ).evidence()
        for name, counts in by_id.counts.items():
            assert np.array_equal(by_place.counts[name], counts)
        assert np.array_equal(by_place.lengths["sentence"], by_id.lengths["sentence"])
        assert len(np.unique(by_id.lengths["document"])) > 5


def test_what_no_signal_needs_is_not_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(str(tmp_path / "index"), documents(), analyzer="plain")
    with open_searcher(str(tmp_path / "index")) as searcher:
        fetched: list[str] = []
        index_type = type(searcher.index)
        read = index_type.read

        def record(index: Any, ids: Any, column: Any, ordinals: Any = None) -> Any:
            fetched.append(column.stage)
            return read(index, ids, column, ordinals)

        monkeypatch.setattr(index_type, "read", record)
        searcher.search(QUERIES[0], ranking=Ranking.from_dict({"rerank": [{"signal": "dir"}]}))
        assert "parses" not in fetched
