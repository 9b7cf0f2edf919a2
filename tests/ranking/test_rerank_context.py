from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from esr.ranking.ranking import Ranking
from esr.ranking.rerank_context import build_context
from esr.ranking.searcher import open_searcher
from esr.ranking.signals import RankingSignal
from tests.ranking.test_reranker import QUERIES, documents
from tests.support.elasticsearch import load


def test_evidence_of_more_terms_or_in_another_order_gives_the_same_scores(tmp_path: Path) -> None:
    load(str(tmp_path / "index"), documents(), analyzer="plain")
    with open_searcher(str(tmp_path / "index")) as searcher:
        prepared = searcher.prepare(QUERIES[0], Ranking())
        ids = [hit.sentence_id for hit in searcher.search(QUERIES[0], 30).hits]
        context = build_context(searcher.index, prepared.counts, prepared.statistics, ids, ())
        terms = ["word9", *reversed(context.terms)]
        evidence = searcher.index.evidence(terms, ids)
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
        monkeypatch.setattr(index_type, "parses", lambda *arguments: fetched.append("parses"))
        searcher.search(QUERIES[0], ranking=Ranking.from_dict({"rerank": [{"signal": "dir"}]}))
        assert fetched == []
