"""What other processes do to an alias during a load is neither undone nor lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from esr.elastic import loads, meta
from esr.elastic.loads import LoadOwner, serve, this_process
from esr.elastic.meta import Load
from esr.elastic.write.writer import ElasticsearchWriter
from esr.errors import EsrError
from esr.index.factory import open_delivery
from esr.index.writer import LoadOptions
from esr.ranking.searcher import open_searcher
from tests.support.elasticsearch import all_indices, document, load, located

pytestmark = pytest.mark.elasticsearch
OLD = [document("old", "An old flood.")]
NEW = [document("new", "A new flood.")]
DELIVERED = [document("more", "Relief came.")]
ELSEWHERE = str(LoadOwner.parse(this_process())._replace(process_space="another"))
Event = Callable[[ElasticsearchWriter, Load], None]


@pytest.fixture
def after_filling(monkeypatch: pytest.MonkeyPatch) -> Callable[[Event], None]:
    """Lets something happen when a load has sent everything, and before it switches."""
    monkeypatch.setattr(loads, "INTERVAL", 0.05)
    fill = ElasticsearchWriter._fill

    def set_event(event: Event) -> None:
        def fill_then(self: ElasticsearchWriter, *args: Any) -> Load:
            load = fill(self, *args)
            event(self, load)
            return load

        monkeypatch.setattr(ElasticsearchWriter, "_fill", fill_then)

    return set_event


def ids(where: str) -> set[str]:
    with open_searcher(where) as searcher:
        return {hit.sentence_id for hit in searcher.search("flood relief", 100, candidates="all").hits}


@pytest.mark.parametrize("is_served", [True, False])
def test_a_load_that_was_taken_over_deletes_nothing(
    where: str, after_filling: Callable[[Event], None], is_served: bool
) -> None:
    """Its process was stopped for long, and comes back."""
    load(where, OLD)

    def take_over(writer: ElasticsearchWriter, begun: Load) -> None:
        owner = ""
        while owner != ELSEWHERE:  # a heartbeat may overwrite it, which it had read before
            meta.write(writer._cluster, replace(begun, owner=ELSEWHERE))
            time.sleep(0.5)
            (stored,) = meta.read(writer._cluster, begun.index)
            owner = stored.owner
        if is_served:
            serve(writer._cluster, begun)

    after_filling(take_over)
    with pytest.raises(EsrError, match="has taken this load over"):
        load(where, NEW, if_exists="replace")
    assert ids(where) == ({"new.s0"} if is_served else {"old.s0"})
    assert len(all_indices(where)) == 4


def test_a_delivery_during_an_appending_load_is_not_undone(
    where: str, after_filling: Callable[[Event], None]
) -> None:
    load(where, OLD)
    after_filling(lambda writer, begun: deliver(where))
    with pytest.raises(EsrError, match="no longer leads to the indices"):
        load(where, NEW, if_exists="append")
    assert ids(where) == {"old.s0", "more.s0"}
    assert len(all_indices(where)) == 4, "the delivery's and the generation before it"


def deliver(where: str) -> None:
    open_delivery(where, LoadOptions()).append(located(DELIVERED))
