"""What a load reads of the collection behind an alias. The answers of the server are made up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from esr.elastic.cluster import Cluster
from esr.elastic.write import spool
from esr.folder.format.snapshot import Snapshot
from esr.index.writer import Description
from tests.support.processes import check_linear


class Statistics:
    """Every second term occurs once."""

    def __init__(self, cluster: Cluster, field: str) -> None:
        pass

    def lookup(self, terms: Any, group: str | None = None) -> Any:
        of_terms = {term: SimpleNamespace(cf=int(term) % 2) for term in terms}
        return SimpleNamespace(terms=of_terms, collection=SimpleNamespace(occurrences=9))


@pytest.mark.slow
def test_the_known_occurrences_of_many_terms_take_no_longer_than_their_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spool, "AliasStatistics", Statistics)
    monkeypatch.setattr(spool, "read_next_ordinals", lambda _: (5, 7))

    def read(terms: int) -> spool.ExistingCollection:
        segment = SimpleNamespace(terms=list(map(str, range(terms))))
        description = SimpleNamespace(description=Description("plain", True))
        made_up = SimpleNamespace(segments=[segment], manifest=description)
        return spool.read_existing_collection(cast(Cluster, None), cast(Snapshot, made_up))

    assert read(4) == spool.ExistingCollection({"1": 1, "3": 1}, 9, 5, 7)  # type: ignore[arg-type]
    check_linear(read, 200_000)
