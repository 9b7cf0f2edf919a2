"""Signals, against sums by hand: `meaning`, models, priors and features, freshness, and `cross`."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

import esr
from esr import features, models
from esr.encoders import load_cross_encoder, load_encoder, quantize
from esr.enrichment.enricher import Enricher, VectorSettings
from esr.errors import UsageError
from esr.folder.index import FolderSnapshot
from esr.folder.search import similarity
from esr.folder.search.kernel_loader import Loader
from esr.index.filters import Filters
from esr.index.hits import SearchResult
from esr.index.questions import MainEncoder
from esr.index.runs.enrichment_run import run_enrichment
from esr.lab import measures
from esr.lab.learn import build_run
from esr.lab.learners import Linear
from esr.lab.training_data import SignalTable, collect_signals, list_signals
from esr.lab.tuner import Task, Tuner
from esr.models.priors import PRIORS
from esr.plans.plan import Plan
from esr.ranking.explanation.explain import explain
from esr.ranking.prepared_query import known_scores
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from esr.ranking.second_stage.regression_trees import trees_from_dict
from esr.ranking.second_stage.signal_types import find_signal_type, signal_types
from esr.ranking.second_stage.signals import RankingSignal, parse_signal, signal_from_dict
from esr.text.document import Document, Sentence
from tests.support.elasticsearch import load
from tests.support.fake_enricher import write_tiny_cross_encoder, write_tiny_encoder
from tests.support.index_contents import ENGINES, open_loaded
from tests.support.web_servers import slow_cross_encoder

TEXTS = {
    "a": ("storm in the town", "the river rose", "bank fraud", "food aid"),
    "b": ("hurricane in the city",),
    "c": ("town court", "the storm", "north wind"),
    "d": (),
    "e": ("the town bank", "flood water town"),
}
DOCUMENTS = [
    Document(id, tuple(Sentence(f"{id}.s{n}", text) for n, text in enumerate(texts)), source=f"wire {id}")
    for id, texts in TEXTS.items()
]
SENTENCES = {sentence.id: sentence.text for document in DOCUMENTS for sentence in document.sentences}
QUERY = "storm town"


@pytest.fixture
def encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    folder = str(write_tiny_encoder(tmp_path / "tiny", 32, query_prefix="relief "))
    monkeypatch.setenv("ESR_ENCODER", folder)
    return folder


@pytest.fixture
def searcher(tmp_path: Path, encoder: str) -> Iterator[Searcher]:
    where = str(tmp_path / "index")
    load(where, DOCUMENTS)
    enrich(where, encoder)
    with open_searcher(where) as searcher:
        yield searcher


def enrich(where: str, encoder: str, slice: tuple[int, int] = (1, 1)) -> None:
    with open_searcher(where) as searcher:
        run_enrichment(searcher.index, Enricher(["vectors"], vectors=VectorSettings(encoder)), slice=slice)


def hybrid(w: float = 10.0, **params: float) -> Ranking:
    return Ranking.from_dict({"rerank": [{"signal": "meaning", "w": w, **params}]})


def cosines(
    encoder: str, text: str = QUERY, empty: float = 0.0, feedback: float = 0.0, best: Collection[str] = ()
) -> dict[str, float]:
    """Of the query with each sentence, with the 8-bit numbers of both.

    `empty` times the vector of an empty query is subtracted from that of the query, and `feedback` times the
    mean of the best sentences is added to it.
    """
    loaded = load_encoder(encoder)
    query, nothing = loaded.encode_query(text), loaded.encode_query("")
    vectors = {id: quantize(loaded.encode_passage(sentence)) for id, sentence in SENTENCES.items()}
    if empty or feedback:
        total = query.array * query.scale - empty * nothing.scale * nothing.array
        for id in best:
            total = total + feedback * vectors[id].array * vectors[id].scale / len(best)
        query = quantize(np.float32(total))
    return {
        id: float(query.array.astype(int) @ vector.array.astype(int)) * query.scale * vector.scale
        for id, vector in vectors.items()
    }


def expected(encoder: str, nu: float, lambda_: float) -> dict[str, float]:
    of_sentence = cosines(encoder)
    values = {}
    for document in DOCUMENTS:
        own = [of_sentence[sentence.id] for sentence in document.sentences]
        for n, sentence in enumerate(document.sentences):
            beside = [own[m] for m in (n - 1, n + 1) if 0 <= m < len(own)] or [own[n]]
            values[sentence.id] = (
                (1 - nu - lambda_) * own[n] + nu * sum(beside) / len(beside) + lambda_ * sum(own) / len(own)
            )
    return values


@pytest.mark.slow
@pytest.mark.parametrize(("nu", "lambda_"), [(0.0, 0.0), (0.2, 0.0), (0.0, 0.3), (0.4, 0.2)])
def test_the_score_is_that_of_the_words_and_the_weighted_similarities(
    searcher: Searcher, encoder: str, nu: float, lambda_: float
) -> None:
    ranking, values = hybrid(nu=nu, **{"lambda": lambda_}), expected(encoder, nu, lambda_)
    first = {hit.sentence_id: hit.score for hit in searcher.search(QUERY, 100, candidates="all").hits}
    answer = searcher.search(QUERY, 100, ranking=ranking)
    assert {hit.sentence_id for hit in answer.hits} == first.keys() == SENTENCES.keys()
    for hit in answer.hits:
        assert hit.score == pytest.approx(first[hit.sentence_id] + 10 * values[hit.sentence_id], abs=1e-9)
    assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)
    assert answer.without_vector == 0


@pytest.mark.slow
def test_an_explanation_has_the_parts_of_the_similarity(searcher: Searcher, encoder: str) -> None:
    prepared = searcher.prepare(QUERY, hybrid(nu=0.25, **{"lambda": 0.25}))
    for hit in prepared.search(100).hits:
        second = explain(prepared, hit.sentence_id).second
        assert second is not None and second.score == pytest.approx(hit.score, abs=1e-12)
        assert not second.lacks_parse, "the signal needs none"
        (part,) = second.signals
        assert set(part.parts) == {"sentence", "neighbours", "document"}
        assert sum(part.parts.values()) == pytest.approx(part.value)
        assert part.parts["sentence"] == pytest.approx(0.5 * cosines(encoder)[hit.sentence_id])
        assert json.loads(json.dumps(second.as_dict()))["signals"][0]["parts"] == part.parts


@pytest.mark.slow
def test_sentences_without_a_vector_are_ranked_by_words_and_counted(tmp_path: Path, encoder: str) -> None:
    where = str(tmp_path / "half")
    load(where, DOCUMENTS)
    enrich(where, encoder, (1, 2))
    with open_searcher(where) as searcher:
        prepared = searcher.prepare(QUERY, hybrid(nu=0.0))
        first = {hit.sentence_id: hit.score for hit in searcher.search(QUERY, 100, candidates="all").hits}
        by_words = {hit.sentence_id for hit in searcher.search(QUERY, 100).hits}
        answer = prepared.search(100)
        has_vector = {id for id in SENTENCES if id[0] in "ab"}
        assert {hit.sentence_id for hit in answer.hits} == has_vector | by_words
        assert answer.without_vector == len(by_words - has_vector) > 0 < len(by_words & has_vector)
        mean = np.mean([cosines(encoder)[id] for id in by_words & has_vector])
        for hit in answer.hits:
            cosine = cosines(encoder)[hit.sentence_id] if hit.sentence_id in has_vector else mean
            assert hit.score == pytest.approx(first[hit.sentence_id] + 10 * cosine)
            explanation = explain(prepared, hit.sentence_id)
            assert explanation.score == pytest.approx(hit.score, abs=1e-12)
            assert (explanation.second.signals[0].value is None) == (hit.sentence_id not in has_vector)  # type: ignore[union-attr]


@pytest.mark.slow
@pytest.mark.parametrize("query", ["hurricane gale", "gale quake", "quake"])
def test_where_words_find_few_or_nothing_the_nearest_sentences_are_candidates(
    searcher: Searcher, encoder: str, query: str
) -> None:
    """No sentence has a word of the last two queries."""
    by_words = {hit.sentence_id for hit in searcher.search(query, 100).hits}
    prepared = searcher.prepare(query, hybrid(nu=0.0))
    answer = prepared.search(100)
    assert {hit.sentence_id for hit in answer.hits} == set(SENTENCES) > by_words
    assert answer.total == len(SENTENCES)
    of_query = cosines(encoder, query)
    for hit in answer.hits:
        explanation = explain(prepared, hit.sentence_id)
        assert hit.score == pytest.approx(explanation.first + 10 * of_query[hit.sentence_id])
        assert explanation.score == pytest.approx(hit.score, abs=1e-12)
    assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)
    best = prepared.search(3).hits
    assert [hit.sentence_id for hit in best] == [hit.sentence_id for hit in answer.hits[:3]]
    if not by_words:
        assert [hit.sentence_id for hit in best] == sorted(of_query, key=lambda id: -of_query[id])[:3]


@pytest.mark.slow
@pytest.mark.parametrize("depth", [2, 50])
def test_the_vector_of_an_empty_query_is_subtracted(searcher: Searcher, encoder: str, depth: int) -> None:
    """From the products, and in the search for the nearest."""
    text = "gale"  # in no sentence, so there is no feedback
    of_query, plain = cosines(encoder, text, empty=0.6), cosines(encoder, text)
    prepared = searcher.prepare(text, replace(hybrid(empty=0.6), depth=depth))
    hits = prepared.search(100).hits
    nearest = sorted(of_query, key=lambda id: -of_query[id])[:depth]
    assert [hit.sentence_id for hit in hits] == nearest
    assert nearest[:2] != sorted(plain, key=lambda id: -plain[id])[:2], "the example tells them apart"
    for hit in hits:
        second = explain(prepared, hit.sentence_id).second
        assert second is not None and second.signals[0].value == pytest.approx(of_query[hit.sentence_id])
        assert hit.score == pytest.approx(10 * of_query[hit.sentence_id]) == pytest.approx(second.score)


@pytest.mark.slow
def test_a_query_without_text_is_ranked_as_without_vectors(searcher: Searcher) -> None:
    """Closeness to an empty text says nothing about its conditions."""
    query = esr.parse_query('source:"wire a"')
    expected = [(hit.sentence_id, hit.score) for hit in searcher.search(query, 100).hits]
    assert len(expected) == 4
    for ranking in (hybrid(), hybrid(empty=0.6, feedback=0.4)):
        answer = searcher.search(query, 100, ranking=ranking)
        assert [(hit.sentence_id, hit.score) for hit in answer.hits] == expected


@pytest.mark.slow
def test_the_vector_of_a_query_of_prefixes_alone_is_that_of_its_best_sentences(
    searcher: Searcher, encoder: str
) -> None:
    query = esr.parse_query("tow*")
    best = [hit.sentence_id for hit in searcher.search(query, 3).hits]
    of_query = cosines(encoder, "", empty=1.0, feedback=0.4, best=best)
    prepared = searcher.prepare(query, hybrid(empty=0.6, feedback=0.4))
    hits = prepared.search(100).hits
    assert len(hits) > len(best) == 3
    for hit in hits:
        second = explain(prepared, hit.sentence_id).second
        assert second is not None
        assert second.signals[0].value == pytest.approx(of_query[hit.sentence_id], abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["2si", "bm25"])
def test_the_mean_vector_of_the_best_sentences_is_added(searcher: Searcher, encoder: str, model: str) -> None:
    """They are the best of a first ranking, which knows neither the model nor filters nor conditions."""
    text = "river town"
    first = {hit.sentence_id: hit.score for hit in searcher.search(text, 100).hits}
    plain = cosines(encoder, text)
    best = sorted(first, key=lambda id: -(first[id] + 30 * plain[id]))[:3]
    assert set(best) != set(sorted(first, key=lambda id: -first[id])[:3]), "the example tells them apart"
    ranking = replace(hybrid(empty=0.6, feedback=0.4), model=model)
    of_query = cosines(encoder, text, empty=0.6, feedback=0.4, best=best)
    for query, filters in (
        (text, Filters()),
        (text, Filters(documents=("a", "e"))),
        (esr.parse_query(f"{text} -court"), Filters()),
    ):
        prepared = searcher.prepare(query, ranking)
        hits = prepared.search(100, filters).hits
        assert len(hits) > 3
        for hit in hits:
            explanation = explain(prepared, hit.sentence_id, filters)
            assert explanation.second is not None
            value = explanation.second.signals[0].value
            assert value == pytest.approx(of_query[hit.sentence_id], abs=1e-12)
            assert (
                hit.score == pytest.approx(explanation.score) == pytest.approx(explanation.first + 10 * value)
            )


@pytest.mark.slow
def test_an_answer_is_incomplete_if_the_first_ranking_was(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    search = FolderSnapshot.search

    def lose_a_shard(
        self: FolderSnapshot, plan: Plan, k: int, filters: Filters, *, records: bool = True
    ) -> SearchResult:
        result = search(self, plan, k, filters, records=records)
        return result if filters else replace(result, incomplete="a shard failed")

    monkeypatch.setattr(FolderSnapshot, "search", lose_a_shard)
    boosted = Ranking.from_dict({"boosts": {"feedback": 0.1}})
    for ranking, expected in (
        (hybrid(feedback=0.4), "a shard failed"),
        (boosted, "a shard failed"),
        (hybrid(feedback=0.0), None),
    ):
        answer = searcher.search(QUERY, ranking=ranking, filters=Filters(documents=("a", "c")))
        assert answer.hits and answer.incomplete == expected


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 3])
def test_the_nearest_are_those_of_a_plain_sort(
    searcher: Searcher, encoder: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    loader = Loader()  # that of this process may have been told to go without
    loader.load()
    monkeypatch.setattr(similarity, "LOADER", loader)
    monkeypatch.setattr(similarity, "LEAST_CHUNK", 2)
    monkeypatch.setattr(similarity, "LEAST_FOR_THREADS", 2)
    monkeypatch.setattr("os.cpu_count", lambda: threads)
    with similarity.start_threads(2) as pool:
        assert (pool is None) == (threads == 1)
    of_query = cosines(encoder, "gale quake")
    vector = load_encoder(encoder).encode_query("gale quake")
    hits = searcher.index.nearest(str(searcher.index.status(MainEncoder())), vector, 3, None, Filters())
    assert [hit.sentence_id for hit in hits] == sorted(of_query, key=lambda id: -of_query[id])[:3]
    assert [hit.score for hit in hits] == pytest.approx(sorted(of_query.values(), reverse=True)[:3])


@pytest.mark.slow
def test_the_nearest_satisfy_filters_and_conditions(searcher: Searcher) -> None:
    one_document = searcher.search("quake", ranking=hybrid(), filters=Filters(documents=("a",)))
    assert {hit.sentence_id[0] for hit in one_document.hits} == {"a"}
    required = searcher.search(esr.parse_query("quake +town"), 100, ranking=hybrid())
    assert required.hits and all("town" in SENTENCES[hit.sentence_id] for hit in required.hits)


@pytest.mark.slow
def test_an_index_without_vectors_says_how_to_get_them(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    load(where, DOCUMENTS)
    with open_searcher(where) as searcher:
        with pytest.raises(UsageError, match="has no vectors: run esr enrich --only vectors"):
            searcher.search(QUERY, ranking=hybrid())
        assert "meaning" not in [signal.signal for signal in list_signals(searcher.index, Ranking())]
        assert searcher.search(QUERY).without_vector is None


@pytest.mark.slow
def test_the_signal_can_be_learned_from_where_there_are_vectors(searcher: Searcher) -> None:
    assert "meaning" in [signal.signal for signal in list_signals(searcher.index, Ranking())]


@pytest.mark.slow
def test_queries_of_another_encoder_are_refused(
    searcher: Searcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ESR_ENCODER", str(write_tiny_encoder(tmp_path / "other", 32)))
    with pytest.raises(UsageError, match=r"are of the encoder tiny \w+, and this is tiny \w+: set ESR"):
        searcher.search(QUERY, ranking=hybrid())
    monkeypatch.setenv("ESR_ENCODER", str(tmp_path / "nothing"))
    with pytest.raises(UsageError, match="there is no encoder"):
        searcher.search(QUERY, ranking=hybrid())
    monkeypatch.delenv("ESR_ENCODER")
    with pytest.raises(UsageError, match="which has no known name: set ESR_ENCODER to its folder"):
        searcher.search(QUERY, ranking=hybrid())
    assert searcher.search(QUERY).hits, "words go on working"


@pytest.mark.slow
def test_vectors_of_two_encoders_are_told_apart(tmp_path: Path, encoder: str) -> None:
    where, other = str(tmp_path / "index"), str(write_tiny_encoder(tmp_path / "other", 32))
    load(where, DOCUMENTS)
    enrich(where, encoder)
    enrich(where, other, (1, 5))
    with open_searcher(where) as searcher:
        assert searcher.index.status(MainEncoder()) == load_encoder(encoder).description.id, (
            "it made most vectors"
        )
        answer = searcher.search(QUERY, 100, ranking=hybrid(nu=0.0))
        of_other = [hit for hit in answer.hits if hit.sentence_id[0] == "a"]
        assert answer.without_vector == len(of_other) > 0


@pytest.mark.slow
def test_hybrid_is_a_ranking_by_name() -> None:
    ranking = Ranking.from_file("hybrid")
    assert [signal.signal for signal in ranking.rerank] == ["meaning"] and ranking.model == Ranking().model
    with pytest.raises(UsageError, match="no ranking 'hybrids': give a file, or one of words, hybrid"):
        Ranking.from_file("hybrids")


def union(searcher: Searcher, encoder: str, query: str, depth: int, allowed: Collection[str]) -> list[str]:
    """The best by words and the nearest by vector, by the whole sum of each; then the rest by words."""
    of_query = cosines(encoder, query)
    by_words = [hit.sentence_id for hit in searcher.search(query, 100).hits if hit.sentence_id in allowed]
    nearest = sorted(allowed, key=lambda id: -of_query[id])[:depth]
    prepared = searcher.prepare(query, hybrid(nu=0.0))
    chosen = dict.fromkeys([*by_words[:depth], *nearest])
    scores = {id: explain(prepared, id).first + 10 * of_query[id] for id in chosen}
    return [*sorted(scores, key=lambda id: -scores[id]), *(id for id in by_words if id not in scores)]


@pytest.mark.slow
@pytest.mark.parametrize("query", ["storm town", "town flood bank", "gale", "north hurricane court"])
@pytest.mark.parametrize("depth", [1, 2, 4, 50])
def test_candidates_are_the_best_by_words_and_the_nearest(
    searcher: Searcher, encoder: str, query: str, depth: int
) -> None:
    ranking, by_words = replace(hybrid(nu=0.0), depth=depth), searcher.search(query, 100)
    expected = union(searcher, encoder, query, depth, set(SENTENCES))
    answer = searcher.search(query, 100, ranking=ranking)
    ids = [hit.sentence_id for hit in answer.hits]
    assert ids == expected
    assert answer.total == len({*ids, *(hit.sentence_id for hit in by_words.hits)})
    assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)
    for k in range(1, len(ids)):
        first = searcher.search(query, k, ranking=ranking)
        assert [hit[:2] for hit in first.hits] == [hit[:2] for hit in answer.hits[:k]], "a page more"
        assert first.total == answer.total


@pytest.mark.slow
def test_filters_and_conditions_hold_for_the_nearest_too(searcher: Searcher, encoder: str) -> None:
    ranking, query = replace(hybrid(nu=0.0), depth=2), "north hurricane court"
    filtered = searcher.search(query, 100, ranking=ranking, filters=Filters(documents=("a", "c")))
    allowed = {id for id in SENTENCES if id[0] in "ac"}
    assert [h.sentence_id for h in filtered.hits] == union(searcher, encoder, query, 2, allowed)
    excluded = searcher.search(esr.parse_query(f"{query} -town"), 100, ranking=ranking)
    allowed = {id for id in SENTENCES if "town" not in SENTENCES[id]}
    assert [h.sentence_id for h in excluded.hits] == union(searcher, encoder, query, 2, allowed)


@pytest.mark.slow
def test_a_sentence_without_a_vector_gets_the_mean_of_the_best_by_words(tmp_path: Path, encoder: str) -> None:
    """The nearest have the greatest similarities of all: their mean would impact it above what words find."""
    where = str(tmp_path / "half")
    load(where, DOCUMENTS)
    enrich(where, encoder, (1, 2))
    query, filters = "storm town", Filters(documents=("a", "b", "c", "e"))
    with open_searcher(where) as searcher:
        prepared = searcher.prepare(query, replace(hybrid(nu=0.0), depth=4))
        by_words = [hit.sentence_id for hit in searcher.search(query, 4, filters=filters).hits]
        of_query, lacking = cosines(encoder, query), [id for id in by_words if id[0] not in "ab"]
        mean = np.mean([of_query[id] for id in by_words if id[0] in "ab"])
        answer = prepared.search(100, filters)
        scores = {hit.sentence_id: hit.score for hit in answer.hits}
        assert answer.without_vector == len(lacking) > 0
        for id in lacking:
            explanation = explain(prepared, id, filters)
            assert scores[id] == pytest.approx(explanation.first + 10 * mean)
            assert explanation.score == pytest.approx(scores[id])


@pytest.mark.slow
@pytest.mark.parametrize("query", ["storm town", "north hurricane court", "gale quake"])
def test_tuning_sees_the_figures_of_a_search(searcher: Searcher, query: str) -> None:
    relevant = ("a.s0", "b.s0", "c.s1", "c.s2", "e.s1")
    shares: list[dict[str, float]] = [{}, {"empty": 0.6}, {"feedback": 1.0}]
    for depth in (1, 2, 50):
        settings = [
            replace(hybrid(w, nu=0.1, **share), depth=depth) for w in (0.0, 3.0, 30.0) for share in shares
        ]
        figures = Tuner(searcher, [Task("t", query, relevant)]).compute_figures(settings)[:, 0]
        for ranking, figure in zip(settings, figures, strict=True):
            hits = searcher.search(query, 1000, ranking=ranking, records=False).hits
            run = {"t": {hit.sentence_id: hit.score for hit in hits}}
            assert figure == measures.evaluate(["AP"], {"t": dict.fromkeys(relevant, 1)}, run)["AP"]["t"]


@pytest.mark.slow
def test_learning_sees_the_candidates_of_a_search(searcher: Searcher) -> None:
    query, signals = "north hurricane court", (RankingSignal("meaning"), RankingSignal("dir"))
    qrels = {"t": {"b.s0": 1, "c.s2": 1}}
    (topic,) = collect_signals(searcher, [Task("t", query, ("b.s0",))], qrels, Ranking(), signals, depth=2)
    hits = searcher.search(query, 1000, ranking=replace(Ranking(), rerank=signals, depth=2)).hits
    assert len(topic.grades) == len(topic.values) > 2, "the nearest are learned from too"
    assert set(topic.ids) == {hit.sentence_id for hit in hits}
    by_words = searcher.search(query, 1000).hits
    assert topic.first_run == {hit.sentence_id: hit.score for hit in by_words}
    model = Linear(signals, np.array([25.0, 0.5]), np.zeros(2))
    scores = build_run((table := SignalTable([topic], "AP")), model.scores(table))["t"]
    learned = searcher.search(query, 1000, ranking=model.ranking(Ranking(), 2)).hits
    assert {hit.sentence_id: hit.score for hit in learned} == pytest.approx(scores, abs=1e-9)


MODELS = [t.name for t in signal_types().values() if t.group == "models"]


@pytest.fixture(scope="module")
def searcher_of_signal_types(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    where = str(tmp_path_factory.mktemp("signal_types") / "index")
    texts = ["flood rose north", "bank of the flood flood", "the", "north wind", "flood", "wind wind bank"]
    sentences = tuple(
        Sentence(f"a.s{n}", text, features={"subj": n / 2} if n != 3 else {}) for n, text in enumerate(texts)
    )
    load(where, [Document("a", sentences), Document("b", (Sentence("b.s0", "north flood bank stood"),))])
    with open_searcher(where) as searcher:
        yield searcher


def test_every_model_that_needs_no_second_stage_is_a_signal_in_each_context() -> None:
    assert {name.split()[0] for name in MODELS} == {
        m.name for m in models.MODELS.values() if not m.second_stage
    }
    assert {"2si both", "2si document", "2si surrounding", "dir"} <= set(MODELS)
    assert [name for name in signal_types() if name.startswith("prior ")] == [f"prior {p}" for p in PRIORS]
    assert not set(features.FEATURES) & set(signal_types())


@pytest.mark.parametrize("name", MODELS)
def test_a_model_as_a_signal_gives_its_own_score(searcher_of_signal_types: Searcher, name: str) -> None:
    model, _, context = name.partition(" ")
    model_alone = Ranking(model, context or None)
    as_signal = Ranking.from_dict({"model": "dir", "rerank": [{"signal": name, "w": 0.5}]})
    for hit in searcher_of_signal_types.search("flood flood north unseen", ranking=as_signal).hits:
        explanation = explain(
            searcher_of_signal_types.prepare("flood flood north unseen", as_signal), hit.sentence_id
        )
        expected = explain(
            searcher_of_signal_types.prepare("flood flood north unseen", model_alone), hit.sentence_id
        ).score
        assert explanation.second is not None
        assert explanation.second.signals[0].value == pytest.approx(expected, abs=1e-12)
        assert hit.score == pytest.approx(explanation.first + 0.5 * expected, abs=1e-12)


def test_parameters_of_the_model_are_parameters_of_the_signal(searcher_of_signal_types: Searcher) -> None:
    name, data = "2si document", {"signal": "2si document", "w": 1, "mu": 7, "lambda": 0.4}
    model_alone = Ranking("2si", "document", {"mu": 7.0, "lambda": 0.4})
    second = explain(
        searcher_of_signal_types.prepare("flood", Ranking.from_dict({"model": "dir", "rerank": [data]})),
        "a.s1",
    ).second
    assert second is not None
    assert second.signals[0].value == pytest.approx(
        explain(searcher_of_signal_types.prepare("flood", model_alone), "a.s1").score
    )
    assert "nu" not in {p.name for p in find_signal_type(name).parameters}
    with pytest.raises(UsageError, match="unknown parameter of 2si document 'nu'"):
        Ranking.from_dict({"rerank": [{"signal": name, "nu": 0.1}]})


def test_a_prior_and_a_feature_add_their_value_and_nothing_where_there_is_none(
    searcher_of_signal_types: Searcher,
) -> None:
    rerank = [{"signal": "feature subj", "w": 10}, {"signal": "prior length", "w": 2}]
    ranking = Ranking.from_dict({"candidates": "all", "rerank": rerank})
    as_prior = Ranking.from_dict({"candidates": "all", "priors": {"length": 2}})
    for position, subj in ((1, 0.5), (3, None), (5, 2.5)):
        explanation = explain(searcher_of_signal_types.prepare("flood", ranking), f"a.s{position}")
        assert explanation.second is not None
        feature, length = explanation.second.signals
        assert (feature.value, feature.adds) == (subj, 10 * (subj or 0.0))
        assert length.adds == pytest.approx(
            explain(searcher_of_signal_types.prepare("flood", as_prior), f"a.s{position}").priors[0].adds
        )
    empty = explain(searcher_of_signal_types.prepare("flood", ranking), "a.s2").second  # only a stop word
    assert empty is not None
    assert (empty.signals[1].value, empty.signals[1].adds) == (None, 0.0)
    hits = searcher_of_signal_types.search("flood", ranking=ranking).hits
    assert "a.s2" not in {hit.sentence_id for hit in hits}  # without a term it is no candidate


def test_an_unknown_signal_or_feature_is_named_with_the_nearest(searcher_of_signal_types: Searcher) -> None:
    with pytest.raises(UsageError, match="unknown signal '2si boht': did you mean '2si both'"):
        Ranking.from_dict({"rerank": [{"signal": "2si boht"}]})
    ranking = Ranking.from_dict({"rerank": [{"signal": "feature sbj"}]})
    with pytest.raises(UsageError, match="did you mean 'subj'"):
        searcher_of_signal_types.search("flood", ranking=ranking)


DATES = ["2024-05-01", "2024-04-01", "2024-03-02", None, "2023-05-01"]


@pytest.fixture(scope="module", params=ENGINES)
def dated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    documents = [
        Document(f"d{n}", (Sentence(f"d{n}.s0", f"storm town {'north ' * n}"),), date=date)
        for n, date in enumerate(DATES)
    ]
    with open_loaded(request, tmp_path_factory.mktemp("dated"), documents) as opened:
        yield opened


def test_freshness_halves_with_each_half_life_before_the_newest(dated: Searcher) -> None:
    plain = {hit.sentence_id: hit.score for hit in dated.search("storm").hits}
    fresh = {"rerank": [{"signal": "freshness", "w": 2, "half_life": 30}]}
    found = {hit.sentence_id: hit.score for hit in dated.search("storm", ranking=fresh).hits}
    halvings = [0, 1, 2, 1, 366 / 30]  # without a date as if one half-life old
    for n, halved in enumerate(halvings):
        assert found[f"d{n}.s0"] - plain[f"d{n}.s0"] == pytest.approx(-2 * halved * np.log(2), abs=1e-4)
    prepared = dated.prepare("storm", fresh)
    assert explain(prepared, "d4.s0").score == pytest.approx(found["d4.s0"], abs=1e-4)


def test_latest_and_best_puts_the_newest_of_equals_first(dated: Searcher) -> None:
    ids = [hit.sentence_id for hit in dated.search("town", ranking="latest").hits]
    assert (ids[0], ids[-1]) == ("d0.s0", "d4.s0")
    assert Ranking().rerank == ()


def test_tuning_sees_the_dates_of_a_search(dated: Searcher) -> None:
    task = Task("t", "storm", ("d4.s0",))  # the oldest
    rankings = [
        Ranking.from_dict({"rerank": [{"signal": "freshness", "w": weight}]}) for weight in (-1e5, 0.0, 1e5)
    ]
    ids = [[hit.sentence_id for hit in dated.search("storm", ranking=r).hits] for r in rankings]
    ranks = [1 / (1 + of_ranking.index("d4.s0")) for of_ranking in ids]
    assert len({*ranks}) > 1
    assert Tuner(dated, [task], "RR").compute_figures(rankings)[:, 0].tolist() == ranks


def test_a_query_of_fields_alone_is_explained_with_its_signals(dated: Searcher) -> None:
    latest = Ranking.from_dict({"rerank": [{"signal": "freshness"}]})
    hits = dated.search("after:2024-03-15", ranking=latest).hits
    assert [hit.sentence_id for hit in hits] == ["d0.s0", "d1.s0"]
    prepared = dated.prepare("after:2024-03-15", latest)
    scores = [explain(prepared, hit.sentence_id).score for hit in hits]
    assert (
        scores
        == pytest.approx([hit.score for hit in hits])
        == known_scores(prepared, [h.sentence_id for h in hits])
    )


def test_freshness_is_no_signal_to_learn_from(dated: Searcher) -> None:
    assert "freshness" not in {signal.signal for signal in list_signals(dated.index, Ranking())}


# The signal `cross`


@pytest.fixture
def cross(tmp_path: Path) -> str:
    return str(write_tiny_cross_encoder(tmp_path / "cross"))


@pytest.mark.parametrize("base", [{}, {"rerank": [{"signal": "meaning", "w": 10}]}], ids=["words", "meaning"])
def test_a_cross_encoder_reorders_the_best_and_the_others_stay_below(
    searcher: Searcher, cross: str, base: dict[str, Any]
) -> None:
    before = searcher.search(QUERY, 100, ranking=base).hits
    best, rest = before[:3], before[3:]
    values = load_cross_encoder(cross).scores(QUERY, [SENTENCES[hit.sentence_id] for hit in best])
    expected = {h.sentence_id: h.score - 0.5 * v for h, v in zip(best, values.tolist(), strict=True)}
    with_cross = {"rerank": [*base.get("rerank", ()), {"signal": f"cross {cross}", "w": -0.5, "depth": 3}]}
    for k in (2, 100):
        answer = searcher.search(QUERY, k, ranking=with_cross)
        found = {hit.sentence_id: hit.score for hit in answer.hits[:3]}
        assert found == pytest.approx({id: expected[id] for id in found})
        assert [*found.values()] == sorted(expected.values(), reverse=True)[:k]
        assert [h.sentence_id for h in answer.hits[3:]] == [h.sentence_id for h in rest][: max(k - 3, 0)]
        assert answer.unread == 0 and len(answer.hits) == min(k, len(before))
    assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)
    assert [hit.sentence_id for hit in answer.hits] != [hit.sentence_id for hit in before]
    assert searcher.search(QUERY, ranking=base).unread is None


def test_what_a_cross_encoder_adds_is_explained(searcher: Searcher, cross: str) -> None:
    ranking = Ranking.from_dict({"rerank": [{"signal": f"cross {cross}", "w": 0.5, "depth": 2}]})
    prepared = searcher.prepare(QUERY, ranking)
    hits = prepared.search(100).hits
    for place, hit in enumerate(hits):
        explanation = explain(prepared, hit.sentence_id)
        assert explanation.second is not None
        (part,) = explanation.second.signals
        if place < 2:
            assert part.value is not None and part.adds == 0.5 * part.value
            assert explanation.score == pytest.approx(hit.score)
        else:
            assert (part.value, part.adds) == (None, 0.0)


def test_sentences_for_which_there_is_no_time_keep_their_order_and_are_counted(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow_cross_encoder("slow", monkeypatch)
    before = [hit.sentence_id for hit in searcher.search(QUERY, 100).hits]
    answer = searcher.search(QUERY, 100, rerank=[parse_signal("cross:slow:depth=5:seconds=0.05")])
    first, second, *rest = before
    assert [hit.sentence_id for hit in answer.hits] == [second, first, *rest] and answer.unread == 3


@pytest.mark.parametrize(
    ("text", "signal", "params"),
    [
        ("cross", "cross", {}),
        ("cross:2", "cross", {"w": "2"}),
        ("cross:depth=20", "cross", {"depth": "20"}),
        ("cross:hf:a/b", "cross hf:a/b", {}),
        ("cross:hf:a/b@main:0.5:depth=20", "cross hf:a/b@main", {"w": "0.5", "depth": "20"}),
        ("cross:./models/cross:2", "cross ./models/cross", {"w": "2"}),
        ("cross:http://localhost:8080/rerank", "cross http://localhost:8080/rerank", {}),
        ("cross:https://[::1]:80/v1/rerank#m:3", "cross https://[::1]:80/v1/rerank#m", {"w": "3"}),
        ("cross http://host/rerank:seconds=2", "cross http://host/rerank", {"seconds": "2"}),
    ],
)
def test_a_cross_encoder_has_a_name_in_its_signal(text: str, signal: str, params: dict[str, str]) -> None:
    parsed = parse_signal(text)
    assert (parsed.signal, dict(parsed.params)) == (signal, params)
    assert signal_from_dict(parsed.as_dict()).signal == signal


def test_without_a_name_the_cross_encoder_is_that_of_the_environment(
    searcher: Searcher, cross: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ESR_CROSS_ENCODER", raising=False)
    with pytest.raises(UsageError, match="needs a cross-encoder: write cross:MODEL, or set ESR_CROSS"):
        searcher.search(QUERY, rerank=[parse_signal("cross")])
    monkeypatch.setenv("ESR_CROSS_ENCODER", cross)
    named = searcher.search(QUERY, rerank=[parse_signal(f"cross:{cross}")])
    assert searcher.search(QUERY, rerank=[parse_signal("cross")]).hits == named.hits


def test_what_reads_the_whole_list_has_no_cross_encoder(searcher: Searcher, cross: str) -> None:
    assert "cross" not in {signal.signal for signal in list_signals(searcher.index, Ranking())}
    ranking = Ranking.from_dict({"rerank": [{"signal": f"cross {cross}"}]})
    tuner = Tuner(searcher, [Task("t", QUERY, ("a.s0",))])
    with pytest.raises(UsageError, match="no tuning computes a cross-encoder"):
        tuner.compute_figures([ranking])
    with pytest.raises(UsageError, match="one cross-encoder at most"):
        Ranking.from_dict({"rerank": [{"signal": "cross"}, {"signal": f"cross {cross}"}]})
    with pytest.raises(UsageError, match="trees cannot use a cross-encoder"):
        trees_from_dict({"inputs": [{"signal": "cross"}], "trees": []})
