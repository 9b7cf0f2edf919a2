"""Deliveries whose documents change nothing, while other processes change the index.

The descriptions of loads are made up: tests/index/test_generations.py delivers to real nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.meta import Load
from esr.elastic.write.delivery import ElasticsearchDelivery
from esr.errors import EsrError
from esr.index.withdrawn import Withdrawn
from esr.index.writer import Description, LoadOptions

INDEX = "news-20260101t000000000000-esr-sentences"
OPENED = Load(INDEX, Description("plain", True), is_complete=True, owner="", members=(INDEX,))


@pytest.fixture
def withdraw(monkeypatch: pytest.MonkeyPatch) -> Callable[[Load], Sequence[Load]]:
    """A function that removes what is from before 1970 from an empty index, which others have changed to this
    load since it was opened. Returns what was written.
    """

    def remove_from(now: Load) -> Sequence[Load]:
        written: list[Load] = []
        states = [[OPENED], [now]]
        monkeypatch.setattr(meta, "searchable_loads", lambda _: states.pop(0))
        monkeypatch.setattr(meta, "check_complete", lambda _: None)
        monkeypatch.setattr(meta, "write", lambda _, load: written.append(load))
        ElasticsearchDelivery("http://localhost:9/news", LoadOptions()).remove([], before=0)
        return written

    monkeypatch.setattr(Cluster, "client", None)
    monkeypatch.setattr(Cluster, "close", lambda _: None)
    return remove_from


def test_a_list_of_removed_documents_keeps_what_enrichment_recorded_meanwhile(
    withdraw: Callable[[Load], Sequence[Load]],
) -> None:
    enriched = replace(
        OPENED, recipes={"digest": {"parts": ["features"]}}, withdrawn=Withdrawn(frozenset("a"))
    )
    assert withdraw(enriched) == [replace(enriched, withdrawn=Withdrawn(frozenset("a"), 0))]


def test_a_list_of_removed_documents_is_not_written_to_a_generation_that_is_not_served(
    withdraw: Callable[[Load], Sequence[Load]],
) -> None:
    later = INDEX.replace("2026", "2027")
    with pytest.raises(EsrError, match=r"has changed .*/news meanwhile: nothing was changed"):
        withdraw(replace(OPENED, index=later, members=(later,)))
