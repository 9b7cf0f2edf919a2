"""Generations of which an index was deleted by hand: they are named, gone back from, and loaded over."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
from elasticsearch._sync.client.indices import IndicesClient

from esr.elastic.location import DOCUMENTS, SENTENCES
from esr.errors import IndexUnusable, UsageError
from esr.index.factory import open_delivery, open_generations
from esr.index.generations import Generation
from esr.index.writer import LoadOptions
from esr.ranking.searcher import open_searcher
from tests.cli.conftest import call
from tests.support.elasticsearch import all_indices, document, http, load, located

pytestmark = [pytest.mark.elasticsearch, pytest.mark.slow]
OLD = [document("old", "An old flood.")]
NEW = [document("new", "A flood."), document("newer", "A river.")]
KINDS = pytest.mark.parametrize("kind", [SENTENCES, DOCUMENTS])


def generations(where: str) -> list[Generation]:
    with closing(open_generations(where)) as index:
        return index.all()


def delete_by_hand(where: str, generation: str, kind: str) -> str:
    """Delete one of the two indices of a generation. Returns its name."""
    url, _, alias = where.rpartition("/")
    name = f"{alias}-{generation}{kind}"
    http("DELETE", f"{url}/{name}")
    return name


def served(where: str) -> set[str]:
    with open_searcher(where) as searcher:
        return {stored.id for stored in searcher.index.documents()}


def alias_targets(where: str) -> set[str]:
    """The indices behind both aliases, by plain HTTP."""
    url, _, alias = where.rpartition("/")
    return {*http("GET", f"{url}/_alias/{alias}"), *http("GET", f"{url}/_alias/{alias}-documents")}


@KINDS
def test_a_rollback_goes_back_from_a_broken_generation(where: str, kind: str) -> None:
    load(where, OLD)
    load(where, NEW, if_exists="replace")
    broken, kept = generations(where)
    missing = delete_by_hand(where, broken.name, kind)
    listed, _ = generations(where)
    assert (listed.name, listed.state, listed.missing) == (broken.name, "serving", (missing,))
    assert f"{missing} is missing" in call("indices", where).stdout
    with closing(open_generations(where)) as index:
        assert index.rollback().name == kept.name
    assert served(where) == {"old"}
    assert all(kept.name in name for name in alias_targets(where)), "of the broken one, no index is served"
    assert [generation.state for generation in generations(where)] == ["broken", "serving"]
    with closing(open_generations(where)) as index:
        with pytest.raises(UsageError, match=f"is broken, as {missing} is missing"):
            index.rollback(broken.name)
        index.delete([broken.name])
    assert len(all_indices(where)) == 2
    assert served(where) == {"old"}


@KINDS
def test_a_load_replaces_a_broken_generation(where: str, kind: str) -> None:
    load(where, OLD)
    (broken,) = generations(where)
    missing = delete_by_hand(where, broken.name, kind)
    for if_exists in ("fail", "append"):
        with pytest.raises(
            (UsageError, IndexUnusable), match=f"{missing} is missing: .*rollback.*--if-exists replace"
        ):
            load(where, NEW, if_exists=if_exists)
    report = load(where, NEW, if_exists="replace", keep=1)
    assert not any("rollback" in note for note in report.notes), "there is nothing to go back to"
    assert served(where) == {"new", "newer"}
    assert len(all_indices(where)) == 2, "what was left of the broken one goes"
    assert [generation.state for generation in generations(where)] == ["serving"]


@KINDS
def test_what_needs_a_broken_generation_names_the_missing_index(where: str, kind: str) -> None:
    load(where, OLD)
    (broken,) = generations(where)
    missing = delete_by_hand(where, broken.name, kind)
    message = f"{missing} is missing: .*rollback"
    with pytest.raises(IndexUnusable, match=message), open_searcher(where) as searcher:
        searcher.search("flood", 1)
    with pytest.raises(IndexUnusable, match=message), open_searcher(where) as searcher:
        searcher.index.status()
    with pytest.raises(IndexUnusable, match=message):
        open_delivery(where, LoadOptions()).append(located(NEW))
    with (
        pytest.raises(UsageError, match=f"{missing} is missing: load"),
        closing(open_generations(where)) as index,
    ):
        index.rollback()


@KINDS
def test_a_kept_generation_that_lacks_an_index_is_not_gone_back_to(where: str, kind: str) -> None:
    for documents in (OLD, NEW, OLD):
        load(where, documents, if_exists="replace", keep=2)
    _, middle, oldest = generations(where)
    missing = delete_by_hand(where, middle.name, kind)
    assert [(g.state, g.missing) for g in generations(where)] == [
        ("serving", ()),
        ("broken", (missing,)),
        ("kept", ()),
    ]
    with closing(open_generations(where)) as index:
        assert index.rollback().name == oldest.name
    assert served(where) == {"old"}


def test_a_missing_index_of_an_earlier_load_breaks_the_generations_that_share_it(where: str) -> None:
    load(where, OLD)
    load(where, NEW, if_exists="append")
    both, first = generations(where)
    missing = delete_by_hand(where, first.name, DOCUMENTS)
    assert [(g.name, g.state, g.missing) for g in generations(where)] == [
        (both.name, "serving", (missing,)),
        (first.name, "broken", (missing,)),
    ]
    load(where, NEW, if_exists="replace")
    assert served(where) == {"new", "newer"}
    assert len(all_indices(where)) == 2


@KINDS
def test_a_whole_index_that_is_broken_can_be_deleted(where: str, kind: str) -> None:
    load(where, OLD)
    delete_by_hand(where, generations(where)[0].name, kind)
    with closing(open_generations(where)) as index:
        index.delete_all()
    assert all_indices(where) == []


@pytest.mark.parametrize("is_listed", [False, True], ids=["unassigned", "recovering"])
def test_a_generation_whose_shards_are_not_open_is_not_empty(
    where: str, monkeypatch: pytest.MonkeyPatch, is_listed: bool
) -> None:
    """So a node answers for some seconds after its start."""
    load(where, OLD)
    real = IndicesClient.stats

    def stats(self: IndicesClient, **options: Any) -> Any:
        answer = real(self, **options)
        for name, of_index in list(answer.body["indices"].items()):
            if not is_listed:
                del answer.body["indices"][name]
            of_index["primaries"] = {"docs": {"count": 0}, "store": {"size_in_bytes": 0}}
            for (shard,) in of_index.get("shards", {}).values():
                shard["routing"]["state"] = "INITIALIZING"
        return answer

    monkeypatch.setattr(IndicesClient, "stats", stats)
    (closed,) = generations(where)
    assert (closed.documents, closed.sentences, closed.size_bytes) == (None, None, None)
    (_, line) = call("indices", where).stdout.splitlines()
    assert line.split()[1:6] == ["serving,", "not", "ready", "?", "?"]
    monkeypatch.undo()
    (opened,) = generations(where)
    assert (opened.documents, opened.sentences) == (1, 1)
