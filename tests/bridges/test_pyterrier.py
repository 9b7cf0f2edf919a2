"""The transformers of esr in pipelines and experiments of PyTerrier."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import esr
from esr.errors import UsageError
from tests.cli.conftest import call
from tests.support.runs import need

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:The inplace keyword:DeprecationWarning"),  # PyTerrier calls pandas so
]
QUERIES = {"1": "earthquake relief China", "2": "harbour -strike", "3": "the", "4": "village rebuild valley"}
MEASURES = ("AP", "nDCG@10", "P@10", "RR", "R@1000")


@pytest.fixture(scope="module")
def pd() -> Any:
    return need("pandas")


@pytest.fixture(scope="module")
def pt() -> Any:
    return need("pyterrier")


@pytest.fixture(scope="module")
def bridge(pt: Any) -> Any:
    return need("esr.bridges.pyterrier")


@pytest.fixture(scope="module")
def index(where: str) -> Iterator[Any]:
    with esr.open(where) as opened:
        yield opened


@pytest.fixture
def topics(pd: Any) -> Any:
    return pd.DataFrame(QUERIES.items(), columns=["qid", "query"])


@pytest.fixture(scope="module")
def grades(index: Any) -> dict[str, dict[str, int]]:
    """Every third sentence of what a query finds is relevant, by different degrees."""
    return {
        qid: {hit.id: 1 + n % 2 for n, hit in enumerate(index.search(QUERIES[qid], 60, literal=True)[::3])}
        for qid in ("1", "2", "4")
    }


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({}, ()),
        ({"model": "bm25", "k1": 1.5}, ("--model", "bm25", "--set", "k1=1.5")),
        (
            {"source": "Northern Wire", "after": "2024-11"},
            ("--source", "Northern Wire", "--after", "2024-11"),
        ),
    ],
)
def test_the_figures_of_an_experiment_are_those_of_run_and_evaluate(
    options: dict[str, Any],
    arguments: tuple[str, ...],
    index: Any,
    where: str,
    topics: Any,
    grades: dict[str, Any],
    tmp_path: Path,
    bridge: Any,
    pd: Any,
    pt: Any,
) -> None:
    judged = [(qid, id, grade) for qid, of in grades.items() for id, grade in of.items()]
    lines = (f"{qid}\t{query}\n" for qid, query in QUERIES.items())
    (tmp_path / "topics.tsv").write_text("".join(lines))
    (tmp_path / "qrels.txt").write_text("".join(f"{qid} 0 {id} {grade}\n" for qid, id, grade in judged))
    run = tmp_path / "esr.run"
    assert call("run", tmp_path / "topics.tsv", "--index", where, "-o", run, *arguments).exit_code == 0
    printed = call("evaluate", tmp_path / "qrels.txt", run, "-m", " ".join(MEASURES), "--json")
    (expected,) = json.loads(printed.stdout)
    figures = pt.Experiment(
        [bridge.Retriever(index, **options)],
        topics,
        pd.DataFrame(judged, columns=["qid", "docno", "label"]),
        list(map(need("ir_measures").parse_measure, MEASURES)),
    )
    for name in MEASURES:
        assert 0.0 < expected["measures"][name] <= 1.0
        assert figures[name][0] == pytest.approx(expected["measures"][name], abs=1e-6), name


def test_results_are_the_hits_in_their_order_with_fields_and_the_columns_of_the_query(
    index: Any, topics: Any, bridge: Any
) -> None:
    retriever = bridge.Retriever(index, 5, fields=("text", "title", "date"))
    found = retriever(topics.assign(query_0="before"))
    assert [*found.columns] == ["qid", "query", "query_0", "docno", "rank", "score", "text", "title", "date"]
    assert "3" not in {*found["qid"]}  # only stop words
    hits = index.search(QUERIES["1"], 5, literal=True)
    first = found[found["qid"] == "1"]
    assert [*first["docno"]] == [hit.id for hit in hits]
    floor = min(hit.score for hit in hits)
    assert floor < 0
    assert [*first["score"]] == pytest.approx([hit.score - floor for hit in hits], abs=1e-9)
    assert [*first["text"]] == [hit.text for hit in hits]
    assert [*first["rank"]] == [0, 1, 2, 3, 4]
    assert len(retriever(topics.iloc[:0])) == 0
    assert len(retriever.search("earthquake")) == 5


def test_a_reranker_gives_found_sentences_the_scores_of_its_ranking(
    index: Any, topics: Any, bridge: Any
) -> None:
    found = bridge.Retriever(index, 1000)(topics)
    shuffled = found.sample(frac=1, random_state=1).assign(score=0.0)
    again = bridge.Reranker(index)(shuffled)
    for qid in ("1", "2", "4"):
        expected, got = found[found["qid"] == qid], again[again["qid"] == qid].sort_values("rank")
        assert {*got["docno"]} == {*expected["docno"]}
        assert [*got["score"]] == pytest.approx([*expected["score"]], abs=1e-9)
    other = (bridge.Retriever(index, 10) >> bridge.Reranker(index, model="bm25"))(topics)
    scores = {hit.id: hit.score for hit in index.search(QUERIES["1"], 1000, literal=True, model="bm25")}
    first = other[other["qid"] == "1"]
    raised = int(not {*first["docno"]} <= {*scores})  # sentences without a score are below all others
    for _, row in first.iterrows():
        expected = scores[row["docno"]] + raised if row["docno"] in scores else 0
        assert row["score"] == pytest.approx(expected, abs=1e-9)


def test_transformers_are_combined_by_operators(index: Any, topics: Any, bridge: Any) -> None:
    one, other = bridge.Retriever(index, 20), bridge.Retriever(index, 20, model="bm25")
    combined = (0.5 * one + other)(topics)
    both = one(topics).merge(other(topics), on=["qid", "docno"])
    for _, row in both.iterrows():
        (got,) = combined[(combined["qid"] == row["qid"]) & (combined["docno"] == row["docno"])]["score"]
        assert got == pytest.approx(0.5 * row["score_x"] + row["score_y"])
    assert len((one % 3)(topics)) == 9


def test_a_reranker_scores_each_row_of_a_union_by_its_own_query(index: Any, topics: Any, bridge: Any) -> None:
    union = bridge.Retriever(index, 5) | bridge.Retriever(index, 5, model="bm25")
    found = union(topics)
    assert found.index.has_duplicates
    reranker = bridge.Reranker(index)
    columns = ["qid", "docno", "score", "rank"]
    scored, expected = (reranker(of)[columns] for of in (found, found.reset_index(drop=True)))
    assert scored.to_numpy().tolist() == expected.to_numpy().tolist()


def test_a_sum_puts_what_one_ranking_did_not_find_below_what_both_found(
    index: Any, topics: Any, bridge: Any
) -> None:
    logs, bm25 = bridge.Retriever(index, 20), bridge.Retriever(index, 8, model="bm25")
    found = logs(topics)
    assert found["score"].min() == 0 and (found["score"] >= 0).all()
    combined = (bm25 + logs * 0.5)(topics)
    for qid in ("1", "2", "4"):
        both = {*bm25(topics).query("qid == @qid")["docno"]} & {*found.query("qid == @qid")["docno"]}
        own = combined[combined["qid"] == qid]
        best = own.sort_values("score", ascending=False).iloc[0]["docno"]
        assert best in both, "neither list's best is beaten by a sentence that the other lacks"


def test_a_reranker_scores_nothing_below_what_was_not_found(index: Any, topics: Any, bridge: Any) -> None:
    found = bridge.Retriever(index, 30)(topics)
    for options in ({}, {"model": "bm25"}, {"model": "jm"}):
        again = bridge.Reranker(index, **options)(found)
        assert (again["score"] >= 0).all()


@pytest.mark.parametrize("name", ["Retriever", "Reranker"])
def test_a_grid_search_sets_parameters_of_the_model(
    name: str, index: Any, topics: Any, grades: dict[str, Any], bridge: Any, pd: Any, pt: Any
) -> None:
    judged = [(qid, id, grade) for qid, of in grades.items() for id, grade in of.items()]
    qrels = pd.DataFrame(judged, columns=["qid", "docno", "label"])
    first = bridge.Retriever(index, 60)
    tuned = bridge.Retriever(index, 60, model="2si") if name == "Retriever" else bridge.Reranker(index)
    pipeline = tuned if name == "Retriever" else first >> tuned
    pt.GridSearch(pipeline, {tuned: {"mu": [1, 50, 5000]}}, topics, qrels, "ndcg")
    assert tuned.get_parameter("mu") in (1, 50, 5000)
    with pytest.raises(UsageError, match="unknown option 'muu'"):
        tuned.set_parameter("muu", 1)
    with pytest.raises(UsageError, match="mu"):
        tuned.set_parameter("mu", -1)
        pipeline(topics)


def test_documents_are_ranked_by_their_best_sentences(index: Any, topics: Any, bridge: Any) -> None:
    found = bridge.Retriever(index, 4, unit="document")(topics)
    best: dict[str, float] = {}
    for hit in index.search(QUERIES["1"], 1000, literal=True):
        best.setdefault(hit.document_id, hit.score)
    first = found[found["qid"] == "1"]
    expected = dict([*best.items()][:4])
    assert [*first["docno"]] == [*expected]
    floor = min(0, *expected.values())
    assert [*first["score"]] == pytest.approx([score - floor for score in expected.values()], abs=1e-9)


def test_an_indexer_makes_an_index_of_a_corpus(tmp_path: Path, bridge: Any, pd: Any) -> None:
    corpus = [
        {"docno": "a", "text": "Rivers rose on Monday. Two towns were cut off.", "title": "Floods"},
        {"docno": "b", "text": "The harbour is closed.", "title": "Strike"},
    ]
    made = bridge.Indexer(str(tmp_path / "made")).index(iter(corpus))
    with made:
        found = bridge.Retriever(made, fields=("text", "title"))(
            pd.DataFrame([["1", "towns"]], columns=["qid", "query"])
        )
        assert found.iloc[0].to_dict() | {"score": 0} == {
            "qid": "1",
            "query": "towns",
            "docno": "a.s1",
            "rank": 0,
            "score": 0,
            "text": "Two towns were cut off.",
            "title": "Floods",
        }


def test_bad_options_and_unknown_sentences_are_one_message(index: Any, bridge: Any, pd: Any, pt: Any) -> None:
    with pytest.raises(UsageError, match="unknown option 'sorce': did you mean 'source'"):
        bridge.Retriever(index, sorce="x")
    frame = pd.DataFrame(
        [["1", "earthquake", "nothing.s0", 0, 1.0]], columns=["qid", "query", "docno", "rank", "score"]
    )
    with pytest.raises(UsageError, match=r"nothing\.s0"):
        bridge.Reranker(index)(frame)
    with pytest.raises(pt.validate.InputValidationError):
        bridge.Retriever(index)(pd.DataFrame([["1"]], columns=["qid"]))


def test_no_java_is_started(index: Any, topics: Any, bridge: Any, pt: Any) -> None:
    bridge.Retriever(index)(topics)
    assert not pt.java.started()
