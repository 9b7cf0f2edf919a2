"""What every term adds at most, made together, is what each gives that is made by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from esr.engines.factory import LoadOptions, open_writer
from esr.engines.segments.reader import term_bounds
from esr.engines.segments.reader.postings import of_term
from esr.engines.segments.reader.snapshot import Snapshot
from esr.engines.segments.store import manifest
from esr.plans.bounds import Bound
from esr.plans.plan import PlanTerm
from esr.ranking.ranking import Ranking
from tests.support.pruning import adverse_documents


@pytest.mark.parametrize("rows", [1, 100, 1 << 17])
@pytest.mark.parametrize("ranking", [Ranking(), Ranking("2s", "surrounding"), Ranking("jm")], ids=str)
def test_all_terms_together_give_what_each_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int, ranking: Ranking
) -> None:
    monkeypatch.setattr(term_bounds, "BATCH", rows)
    found, where, mixture = adverse_documents(), str(tmp_path / "index"), ranking.mixture()
    assert mixture is not None
    for some, exists in ((found[:50], "fail"), (found[50:], "append")):
        open_writer(where, LoadOptions(analyzer="plain", if_exists=exists)).load(some)
    statistics = Snapshot(Path(where), manifest.read(Path(where))).statistics
    assert len(statistics.segments) == 2
    bound = Bound(mixture, statistics.collection.longest_sentence)
    names = {segment.terms[n] for segment in statistics.segments for n in range(len(segment.terms))}
    every = [term_bounds.all_upper_bounds(statistics, owner, mixture) for owner in range(2)]
    assert [len(each) for each in every] == [len(s.column("document_numbers")) for s in statistics.segments]
    for name in names:
        term = statistics.find(name)
        p = max(term.statistics.cf, 1) / statistics.collection.occurrences
        alone = bound.most(PlanTerm(name, 1.0, p), *of_term(statistics, name, set(mixture.fields())))
        together = [each[cut[2] : cut[3]] for each, cut in zip(every, term.posting_ranges, strict=True)]
        assert np.array_equal(np.concatenate(together), alone), name
