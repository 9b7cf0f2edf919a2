"""The engine against the independent scorer, on corpora that hypothesis makes up."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from esr.folder.write import segment_writer
from esr.index.contract import read_document
from esr.index.hits import Hit
from esr.ranking.searcher import Searcher, open_searcher
from tests.support import worked_examples as worked
from tests.support.folder_index import document, load
from tests.support.reference_scores import CONTEXTS, DEFAULTS, Reference, Text
from tests.support.runs import examples

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
TITLE_WORDS = [*WORDS, "headline"]


def terms(words: list[str], maximum: int) -> st.SearchStrategy[list[str]]:
    run = st.builds(
        lambda word, times: [word] * times, st.sampled_from(words), st.sampled_from([1, 1, 1, 2, 3, 100])
    )
    return st.lists(run, max_size=maximum).map(lambda runs: [word for run in runs for word in run])


texts = st.lists(
    st.builds(Text, st.lists(terms(WORDS, 6), max_size=5), terms(TITLE_WORDS, 3)), min_size=1, max_size=6
)
queries = st.lists(st.sampled_from([*TITLE_WORDS, "unseen"]), min_size=1, max_size=6)
shares = st.floats(0, 1, allow_subnormal=False).map(lambda x: round(x, 3))
wide = st.sampled_from([0.0, 0.5, 1.2, 8.0, 1000.0])
CHOICES = {
    "idf": ["sentence", "document", "document_keep_n"],
    "avcl": ["documents", "sentences"],
    "background": ["occurrences", "documents"],
    "form": ["flat", "flat_jm", "nested"],
}


@st.composite
def rankings(draw: st.DrawFn) -> dict[str, Any]:
    model = draw(st.sampled_from(sorted(DEFAULTS)))
    context = draw(st.sampled_from([None, *CONTEXTS[model]]))
    has_both_contexts = (context or ("both" if model == "2si" else None)) == "both"
    params: dict[str, Any] = {}
    for name in DEFAULTS[model]:
        if name in CHOICES:
            params[name] = draw(st.sampled_from(CHOICES[name]))
        elif name in ("k1", "k3"):
            params[name] = draw(wide)
        elif name == "mu":
            params[name] = draw(st.sampled_from([0.01, 1.0, 8.0, 30.0, 5000.0]))
        elif name != "nu" or has_both_contexts:
            params[name] = draw(shares)
    _normalize_shares(model, params, draw(st.floats(0.01, 1)))
    names = st.sampled_from(["importance", "importance-surrounding", "length"])
    return {
        "model": model,
        "context": context,
        "params": params,
        "priors": draw(st.dictionaries(names, st.sampled_from([-0.5, 0.0, 0.3, 1.0, 2.0]), max_size=3)),
        "candidates": draw(st.sampled_from([None, "matching", "context", "all"])),
    }


def _normalize_shares(model: str, params: dict[str, Any], maximum: float) -> None:
    """Scale the shares of one whole so that they are one: below 1 where the collection needs the rest."""
    names = {
        "tfmix": ("alpha", "nu"),
        "bm25f": ("alpha", "nu"),
        "2si": ("lambda", "nu"),
        "3mm": ("gamma", "nu") if params.get("form") == "nested" else ("lambda", "gamma", "nu"),
    }.get(model, ())
    limit = 0.98 * maximum if model == "3mm" else maximum
    total = sum(params.get(name, 0.0) for name in names)
    if total > limit:
        params |= {name: params[name] * limit / total for name in names if name in params}
    if model in ("jm", "2s", "3mm") and (model != "3mm" or params["form"] != "flat"):
        params["lambda"] = max(params["lambda"], 0.005)


@pytest.mark.slow
@pytest.mark.parametrize("full_terms", [4_000_000, 8], ids=["one segment", "several segments"])
@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking would take minutes
)
@given(
    texts=texts,
    titles=st.booleans(),
    searches=st.lists(st.tuples(queries, rankings()), min_size=8, max_size=12),
    k=st.integers(1, 8),
)
def test_the_engine_ranks_as_the_formulas_say(
    full_terms: int,
    texts: list[Text],
    titles: bool,
    searches: list[tuple[list[str], dict[str, Any]]],
    k: int,
) -> None:
    reference = Reference(texts, titles=titles)
    numbers = {
        f"d{n}.s{m}": number
        for number, (n, m) in enumerate((n, m) for n, text in enumerate(texts) for m in range(len(text[0])))
    }
    with (
        TemporaryDirectory() as folder,
        patch.object(segment_writer, "FULL_TERMS", full_terms),
    ):
        where = Path(folder) / "index"
        load(where, (_document(n, text) for n, text in enumerate(texts)), title=titles)
        with open_searcher(str(where)) as searcher:
            for query, ranking in searches:
                expected = reference.rank(query, **ranking)
                answer = searcher.search(" ".join(query), 1000, records=False, **ranking)
                _assert_same_hits([(numbers[hit.sentence_id], hit.score) for hit in answer.hits], expected)
                few = searcher.search(" ".join(query), k, **ranking)
                assert (answer.total, few.total) == (len(expected), len(expected))
                assert [_id_and_score(hit) for hit in few.hits] == [
                    _id_and_score(hit) for hit in answer.hits[:k]
                ]


def _document(n: int, text: Text) -> Any:
    return document(f"d{n}", *map(" ".join, text.sentences), title=" ".join(text.title) or None)


def _id_and_score(hit: Hit) -> tuple[str, float]:
    return hit.sentence_id, hit.score


def _assert_same_hits(hits: list[tuple[int, float]], expected: list[tuple[int, float]]) -> None:
    values = dict(expected)
    assert dict(hits) == pytest.approx(values, rel=1e-9, abs=1e-9)
    # Rounding may part what the formulas tie, so the order is held to the engine's own scores.
    assert hits == sorted(hits, key=lambda hit: (-hit[1], hit[0]))


# The worked examples of the formulas, through the API. tests/cli/test_evaluate.py has the command line.


RUNS = [*worked.runs(), *worked.adjusted(), *worked.dependence()]


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    where = tmp_path_factory.mktemp("worked") / "index"
    load(where, worked.documents())
    return open_searcher(str(where))


def test_there_are_1344_worked_scores() -> None:
    assert sum(len(scores) for run in worked.runs() for scores in run.scores.values()) == 1344


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.name)
def test_every_worked_score_is_met(searcher: Searcher, run: worked.Run) -> None:
    for query_id, query in worked.queries().items():
        answer = searcher.search(query, 100, **run.ranking)
        scores = {hit.sentence_id: hit.score for hit in answer.hits}
        assert scores == pytest.approx(run.scores[query_id], rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("run", worked.runs(), ids=lambda run: run.name)
def test_the_independent_scorer_meets_every_worked_score(run: worked.Run) -> None:
    documents = [located.document for located in worked.documents()]
    reference = Reference([Text([s.text.split() for s in document.sentences]) for document in documents])
    ids = [sentence.id for document in documents for sentence in document.sentences]
    for query_id, query in worked.queries().items():
        hits = reference.rank(query.split(), **run.ranking)
        assert {ids[n]: score for n, score in hits} == pytest.approx(run.scores[query_id], rel=1e-9)


def test_features_parses_and_given_ids_come_back(searcher: Searcher) -> None:
    for located in worked.documents():
        assert read_document(searcher.index, located.document.id) == located.document


def test_every_model_with_a_context_has_worked_scores_in_each() -> None:
    worked_with = {(run.ranking["model"], run.ranking.get("context")) for run in worked.runs()}
    for model, contexts in CONTEXTS.items():
        for context in {*contexts, None} - {"both"}:
            assert (model, context) in worked_with or model == "kld" or (contexts and context is None)
