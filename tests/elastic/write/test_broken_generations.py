"""Generations of which an index was deleted by hand: they are named, gone back from, and loaded over."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch

from esr.elastic import meta
from esr.elastic.cluster import Cluster
from esr.elastic.location import DOCUMENTS, SENTENCES
from esr.elastic.meta import Load
from esr.elastic.write import load_owner
from esr.elastic.write.generations import serve
from esr.elastic.write.load_owner import LoadOwner, this_process
from esr.elastic.write.writer import ElasticsearchWriter
from esr.errors import EsrError, IndexUnusable, UsageError
from esr.index.factory import open_delivery, open_generations
from esr.index.generations import Generation
from esr.index.questions import Summary
from esr.index.writer import LoadOptions
from esr.ranking.searcher import open_searcher
from tests.cli.conftest import call
from tests.support.elasticsearch import all_indices, document, http, load, located
from tests.support.processes import AMID_BULK, ForkedProcess, load_until, run_esr
from tests.support.runs import only_long

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


@pytest.mark.elasticsearch
@pytest.mark.slow
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


@pytest.mark.elasticsearch
@pytest.mark.slow
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


@pytest.mark.elasticsearch
@pytest.mark.slow
@KINDS
def test_what_needs_a_broken_generation_names_the_missing_index(where: str, kind: str) -> None:
    load(where, OLD)
    (broken,) = generations(where)
    missing = delete_by_hand(where, broken.name, kind)
    message = f"{missing} is missing: .*rollback"
    with pytest.raises(IndexUnusable, match=message), open_searcher(where) as searcher:
        searcher.search("flood", 1)
    with pytest.raises(IndexUnusable, match=message), open_searcher(where) as searcher:
        searcher.index.status(Summary())
    with pytest.raises(IndexUnusable, match=message):
        open_delivery(where, LoadOptions()).append(located(NEW))
    with (
        pytest.raises(UsageError, match=f"{missing} is missing: restore a backup, or load"),
        closing(open_generations(where)) as index,
    ):
        index.rollback()


@pytest.mark.elasticsearch
@pytest.mark.slow
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


@pytest.mark.elasticsearch
@pytest.mark.slow
@KINDS
def test_a_closed_generation_is_kept_and_not_gone_back_to(where: str, kind: str) -> None:
    for documents in (OLD, NEW):
        load(where, documents, if_exists="replace", keep=2)
    url, _, alias = where.rpartition("/")
    name = f"{alias}-{generations(where)[1].name}{kind}"
    http("POST", f"{url}/{name}/_close")
    load(where, NEW, if_exists="replace", keep=2)
    newest, _, oldest = generations(where)
    assert (oldest.state, oldest.missing) == ("kept", ())
    with closing(open_generations(where)) as index:
        with pytest.raises(IndexUnusable, match=f"^{name} is closed: open it with POST {name}/_open$"):
            index.rollback(oldest.name)
        assert generations(where)[0] == newest  # and is not rejected
        http("POST", f"{url}/{name}/_open")
        assert index.rollback(oldest.name).name == oldest.name
    assert served(where) == {"old"}


@pytest.mark.elasticsearch
@pytest.mark.slow
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


@pytest.mark.elasticsearch
@pytest.mark.slow
@KINDS
def test_a_whole_index_that_is_broken_can_be_deleted(where: str, kind: str) -> None:
    load(where, OLD)
    delete_by_hand(where, generations(where)[0].name, kind)
    with closing(open_generations(where)) as index:
        index.delete_all()
    assert all_indices(where) == []


@pytest.mark.elasticsearch
@pytest.mark.slow
@pytest.mark.parametrize("is_listed", [False, True], ids=["unassigned", "recovering"])
def test_a_generation_whose_shards_are_not_open_is_not_empty(
    where: str, monkeypatch: pytest.MonkeyPatch, is_listed: bool
) -> None:
    """So a node answers for some seconds after its start."""
    load(where, OLD)
    client = type(Elasticsearch("http://localhost:9200").indices)
    real = client.stats

    def stats(self: Any, **options: Any) -> Any:
        answer = real(self, **options)
        for name, of_index in list(answer.body["indices"].items()):
            if not is_listed:
                del answer.body["indices"][name]
            of_index["primaries"] = {"docs": {"count": 0}, "store": {"size_in_bytes": 0}}
            for (shard,) in of_index.get("shards", {}).values():
                shard["routing"]["state"] = "INITIALIZING"
        return answer

    monkeypatch.setattr(client, "stats", stats)
    (closed,) = generations(where)
    assert (closed.documents, closed.sentences, closed.size_bytes) == (None, None, None)
    (_, line) = call("indices", where).stdout.splitlines()
    assert line.split()[1:6] == ["serving,", "not", "ready", "?", "?"]
    monkeypatch.undo()
    (opened,) = generations(where)
    assert (opened.documents, opened.sentences) == (1, 1)


# What other processes do to an alias during a load is neither undone nor lost.


MEANWHILE_NEW = [document("new", "A new flood.")]
DELIVERED = [document("more", "Relief came.")]
ELSEWHERE = str(LoadOwner.parse(this_process())._replace(process_space="another"))
Event = Callable[[ElasticsearchWriter, Load], None]


@pytest.fixture
def after_filling(monkeypatch: pytest.MonkeyPatch) -> Callable[[Event], None]:
    """Lets something happen when a load has sent everything, and before it switches."""
    monkeypatch.setattr(load_owner, "INTERVAL", 0.05)
    fill = ElasticsearchWriter.fill

    def set_event(event: Event) -> None:
        def fill_then(self: ElasticsearchWriter, *args: Any) -> Load:
            load = fill(self, *args)
            event(self, load)
            return load

        monkeypatch.setattr(ElasticsearchWriter, "fill", fill_then)

    return set_event


def ids(where: str) -> set[str]:
    with open_searcher(where) as searcher:
        return {hit.sentence_id for hit in searcher.search("flood relief", 100, candidates="all").hits}


@pytest.mark.elasticsearch
@pytest.mark.parametrize("is_served", [True, False])
def test_a_load_that_was_taken_over_deletes_nothing(
    where: str, after_filling: Callable[[Event], None], is_served: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its process was stopped for long, and comes back."""
    load(where, OLD)
    read, noticed = load_owner.read, threading.Event()

    def read_and_notice(cluster: Cluster, index: str) -> list[Load]:
        found = read(cluster, index)
        if threading.current_thread().name == "heartbeat" and ELSEWHERE in [each.owner for each in found]:
            noticed.set()
        return found

    def take_over(_: ElasticsearchWriter, begun: Load) -> None:
        with closing(Cluster(where)) as cluster:
            while not noticed.wait(0.5):  # a heartbeat may overwrite it, which it had read before
                meta.write(cluster, replace(begun, owner=ELSEWHERE))
            if is_served:
                serve(cluster, begun)

    monkeypatch.setattr(load_owner, "read", read_and_notice)
    after_filling(take_over)
    with pytest.raises(EsrError, match="has taken this load over"):
        load(where, MEANWHILE_NEW, if_exists="replace")
    assert ids(where) == ({"new.s0"} if is_served else {"old.s0"})
    assert len(all_indices(where)) == 4


@pytest.mark.elasticsearch
def test_a_delivery_during_an_appending_load_is_not_undone(
    where: str, after_filling: Callable[[Event], None]
) -> None:
    load(where, OLD)
    after_filling(lambda writer, begun: deliver(where))
    with pytest.raises(EsrError, match="no longer points to the indices"):
        load(where, MEANWHILE_NEW, if_exists="append")
    assert ids(where) == {"old.s0", "more.s0"}
    assert len(all_indices(where)) == 4, "the delivery's and the generation before it"


@pytest.mark.elasticsearch
@pytest.mark.parametrize("if_exists", ["fail", "append"])
def test_a_first_load_does_not_replace_an_index_made_meanwhile(
    where: str, if_exists: str, after_filling: Callable[[Event], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def load_another(writer: ElasticsearchWriter, begun: Load) -> None:
        monkeypatch.undo()
        load(where, OLD)

    after_filling(load_another)
    with pytest.raises(EsrError, match="another load has made an index"):
        load(where, MEANWHILE_NEW, if_exists=if_exists)
    assert ids(where) == {"old.s0"}
    assert len(all_indices(where)) == 2


def deliver(where: str) -> None:
    open_delivery(where, LoadOptions()).append(located(DELIVERED))


# Loads into a real Elasticsearch that are killed: what is served is always one complete load.


KILL_OLD = [document("old", "An old flood.", "A river.")]


def all_ids(where: str) -> set[str]:
    """The ids of all sentences behind the alias, by plain HTTP."""
    hits = http("POST", f"{where}/_search", {"size": 5000, "_source": False})["hits"]["hits"]
    assert len({hit["_id"] for hit in hits}) == len(hits)
    return {hit["_id"] for hit in hits}


@pytest.mark.endurance
@pytest.mark.parametrize(
    "moment",
    [
        "after create_load",
        pytest.param(AMID_BULK, marks=pytest.mark.servers),
        "after _transfer",
        "before switch",
        "after switch",
        "before _mark_complete",
    ],
)
@pytest.mark.parametrize(
    "resume", [pytest.param(False, marks=only_long, id="anew"), pytest.param(True, id="resumed")]
)
def test_a_killed_load_can_be_repeated_or_resumed(
    where: str, tmp_path: Path, moment: str, resume: bool
) -> None:
    """`kill -9` leaves the old load, or the new one; the same command again ends with everything once."""
    load(where, KILL_OLD)
    source = tmp_path / "news.jsonl"
    texts = [[f"Flood number {n} of {d}." for n in range(20)] for d in range(100)]
    source.write_text(
        "".join(
            json.dumps({"id": f"d{d}", "sentences": [{"text": text} for text in some]}) + "\n"
            for d, some in enumerate(texts)
        )
    )
    new = {f"d{d}.s{n}" for d in range(100) for n in range(20)}
    command = [source, "--index", where, "--if-exists", "replace"]
    assert ForkedProcess(load_until, moment, command).wait() == -signal.SIGKILL
    switched = moment in ("after switch", "before _mark_complete")
    assert all_ids(where) == (new if switched else {"old.s0", "old.s1"})
    left = set(all_indices(where))
    assert len(left) == 4

    option = ["--resume"] if resume else []
    ForkedProcess(run_esr, ["load", *command, *option]).finish()
    assert all_ids(where) == new
    with open_searcher(where) as searcher:
        status = searcher.index.status(Summary())
        assert (status["sentences"], status["documents"]) == (2000, 100)
    # One generation is kept beside the served one. What the killed loader left was resumed or deleted.
    assert len(all_indices(where)) == 4
    assert len(left & set(all_indices(where))) == (4 if resume and not switched else 2)


@pytest.mark.endurance
def test_a_load_can_be_killed_at_any_moment(where: str, tmp_path: Path) -> None:
    """At no particular moment: what is served is always one complete load."""
    source = tmp_path / "news.jsonl"
    lines = [
        json.dumps({"id": f"d{d}", "sentences": [{"text": f"Flood {n}."} for n in range(20)]})
        for d in range(300)
    ]
    source.write_text("\n".join(lines))
    load(where, KILL_OLD)
    command = ["load", source, "--index", where, "--if-exists", "replace"]
    for delay in (0.1, 0.3, 0.6, 1.0, 1.6):
        loader = ForkedProcess(run_esr, command)
        time.sleep(delay)
        loader.kill()
        assert http("GET", f"{where}/_count")["count"] in (2, 6000)
    ForkedProcess(run_esr, command).finish()
    with open_searcher(where) as searcher:
        assert searcher.index.status(Summary())["sentences"] == 6000
