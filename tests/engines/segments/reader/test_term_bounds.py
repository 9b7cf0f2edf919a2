"""The upper bounds of all terms, computed in batches, are those that each term has by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from esr.engines.factory import LoadOptions, open_writer
from esr.engines.segments.reader import term_bounds
from esr.engines.segments.reader.postings import read_postings
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.reader.term_bounds import compute_upper_bounds, round_outward
from esr.engines.segments.store import manifest
from esr.plans.bounds import Bound
from esr.plans.plan import PlanTerm
from esr.ranking.ranking import Ranking
from tests.support.pruning import adverse_documents


@pytest.mark.parametrize("batch", [1, 100, 1 << 17])
@pytest.mark.parametrize("ranking", [Ranking(), Ranking("2s", "surrounding"), Ranking("jm")], ids=str)
def test_a_batch_gives_what_each_term_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int, ranking: Ranking
) -> None:
    monkeypatch.setattr(term_bounds, "BATCH", batch)
    documents, where, mixture = adverse_documents(), tmp_path / "index", ranking.mixture()
    assert mixture is not None
    for part, exists in ((documents[:50], "fail"), (documents[50:], "append")):
        open_writer(str(where), LoadOptions(analyzer="plain", if_exists=exists)).load(part)
    statistics = Snapshot(where, manifest.read(where)).statistics
    assert len(statistics.segments) == 2
    bound = Bound(mixture, statistics.collection.longest_sentence)
    terms = {segment.terms[n] for segment in statistics.segments for n in range(len(segment.terms))}
    by_segment = [compute_upper_bounds(statistics, owner, mixture) for owner in range(2)]
    assert list(map(len, by_segment)) == [len(s.column("document_numbers")) for s in statistics.segments]
    for term in terms:
        entry = statistics.find(term)
        p = max(entry.statistics.cf, 1) / statistics.collection.occurrences
        postings = read_postings(statistics, term, set(mixture.fields()))
        alone = bound.upper_bounds(PlanTerm(term, 1.0, p), *postings)
        in_batches = [
            bounds[ranges[2] : ranges[3]]
            for bounds, ranges in zip(by_segment, entry.posting_ranges, strict=True)
        ]
        assert np.array_equal(np.concatenate(in_batches), alone), term


@pytest.mark.parametrize("up", [True, False])
def test_rounding_outward_moves_no_bound_inward(up: bool) -> None:
    values = np.concatenate([np.linspace(-2.0, 2.0, 1001), [0.0, 1e-60, -1e-60, 1 / 3, 16_777_217.0]])
    rounded = round_outward(values, up=up)
    assert rounded.dtype == np.float32
    assert (rounded >= values).all() if up else (rounded <= values).all()
    np.testing.assert_allclose(rounded, values, rtol=1e-6, atol=1e-44)
    exact = values.astype(np.float32) == values
    assert (rounded[exact] == values[exact]).all()
