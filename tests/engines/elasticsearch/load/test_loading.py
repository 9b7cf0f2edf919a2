"""Loads into a real Elasticsearch: all of them or nothing, also when the loader is killed."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

import esr
from esr.documents import Document, Sentence
from esr.engines.elasticsearch.load import loading as engine
from esr.engines.elasticsearch.load.actions import common_date
from esr.engines.elasticsearch.store import meta, owner
from esr.engines.factory import LoadOptions, open_generations, open_writer
from esr.errors import EngineUnreachable, EsrError, IndexMissing, IndexUnusable, InputError, UsageError
from tests.engines.elasticsearch.support import document, http, indices, load, located

ROOT = Path(__file__).resolve().parents[4]
OLD = [document("old", "An old flood.", "A river.")]
NEW = [document("new", "A new flood.", "Another flood."), document("more", "Relief came.")]


def split(where: str) -> tuple[str, str]:
    url, _, alias = where.rpartition("/")
    return url, alias


def made(where: str) -> list[str]:
    return indices(*split(where))


def served(where: str, query: str = "flood river relief") -> set[str]:
    """The sentences that are found now."""
    with esr.open(where) as searcher:
        return {hit.sentence_id for hit in searcher.search(query, 1000, candidates="all").hits}


def test_nothing_is_seen_before_the_alias_moves(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    load(where, OLD)
    seen = []
    switch = engine.ElasticsearchWriter._switch

    def watched(self: Any, load: Any) -> None:
        seen.append(served(where))
        assert len(made(where)) == 4, "the new indices are there, complete, beside the old"
        switch(self, load)

    monkeypatch.setattr(engine.ElasticsearchWriter, "_switch", watched)
    load(where, NEW, if_exists="replace")
    assert seen == [{"old.s0", "old.s1"}]
    assert served(where) == {"new.s0", "new.s1", "more.s0"}


def test_if_exists(where: str) -> None:
    with pytest.raises(IndexMissing, match="make one with esr load"):
        esr.open(where)
    load(where, OLD, if_exists="append")
    with pytest.raises(UsageError, match="--if-exists replace or --if-exists append"):
        load(where, NEW)
    assert served(where) == {"old.s0", "old.s1"}
    report = load(where, [*OLD, *NEW], if_exists="append")
    assert (report.documents, report.sentences, report.unchanged) == (3, 3, 1)
    assert served(where) == {"old.s0", "old.s1", "new.s0", "new.s1", "more.s0"}
    report = load(where, NEW, if_exists="append")
    assert (report.unchanged, report.sentences) == (2, 0)
    assert len(made(where)) == 4, "a load of nothing new makes no index"
    before = made(where)
    report = load(where, OLD, if_exists="replace")
    assert served(where) == {"old.s0", "old.s1"}
    assert set(before) < set(made(where)), "the load before is kept"
    (note,) = report.notes
    assert note.split()[1] in before[-1] and "esr rollback" in note


def test_append_keeps_the_analysis(where: str) -> None:
    load(where, OLD, analyzer="plain", title=False)
    with pytest.raises(UsageError, match="--analyzer plain"):
        load(where, NEW, analyzer="english", if_exists="append")
    with pytest.raises(UsageError, match="--no-title"):
        load(where, NEW, title=True, if_exists="append")
    load(where, NEW, if_exists="append")
    with esr.open(where) as searcher:
        assert searcher.index.description.analyzer == "plain"


def test_append_of_a_changed_document(where: str) -> None:
    load(where, OLD)
    before = made(where)
    with pytest.raises(InputError, match="old") as raised:
        load(where, [*NEW, document("old", "Another text.")], if_exists="append")
    assert raised.value.where == "test:3"
    assert (made(where), served(where)) == (before, {"old.s0", "old.s1"})


def refused_by_elasticsearch() -> Iterator[Document]:
    yield from NEW
    # A name in the middle of which there is nothing: valid for esr, not for Elasticsearch.
    yield Document("refused", (Sentence("refused.s0", "A flood.", {"a..b": 1.0}),))


def duplicate() -> Iterator[Document]:
    yield from [*NEW, NEW[0]]


def broken_source() -> Iterator[Document]:
    yield NEW[0]
    raise InputError("news.jsonl:2", "not JSON")


@pytest.mark.parametrize(
    "documents, message",
    [
        (
            refused_by_elasticsearch,
            "1 documents were refused, nothing was switched: Elasticsearch refused refused.s0",
        ),
        (duplicate, "new"),
        (broken_source, "jsonl:2"),
    ],
)
def test_a_failed_load_leaves_nothing(where: str, documents: Any, message: str) -> None:
    load(where, OLD)
    before = made(where)
    with pytest.raises(EsrError, match=message):
        load(where, documents(), if_exists="replace")
    assert made(where) == before
    assert served(where) == {"old.s0", "old.s1"}


def test_a_refused_switch_leaves_nothing(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another load replaced the old one and somebody removed it, just before the switch."""
    load(where, OLD)
    switch = engine.ElasticsearchWriter._switch

    def late(self: Any, load: Any) -> None:
        http("DELETE", f"{split(where)[0]}/{load.documents_index}")
        switch(self, load)

    monkeypatch.setattr(engine.ElasticsearchWriter, "_switch", late)
    before = made(where)
    with pytest.raises(EsrError):
        load(where, NEW, if_exists="replace")
    assert made(where) == before
    assert served(where) == {"old.s0", "old.s1"}


def _lost(url: str, index: str) -> None:
    http("DELETE", f"{url}/{index}/_doc/new.s1")


def _added(url: str, index: str) -> None:
    body = {"document_id": "x", "order": 9}
    http("PUT", f"{url}/{meta.documents_index(index)}/_doc/x", body)


def _changed(url: str, index: str) -> None:
    body = {"doc": {"checksum": "0" * 32}}
    http("POST", f"{url}/{meta.documents_index(index)}/_update/new", body)


@pytest.mark.parametrize(
    "harm, message",
    [
        (_lost, "2 entries of 3, nothing was switched"),
        (_added, "3 entries of 2, nothing was switched"),
        (_changed, "other checksums than those that were sent, nothing was switched"),
    ],
)
def test_what_arrived_is_compared_with_what_was_sent(
    where: str, monkeypatch: pytest.MonkeyPatch, harm: Any, message: str
) -> None:
    url, _ = split(where)
    verify = engine.verify

    def harmed(cluster: Any, index: str, expected: Any) -> None:
        harm(url, index)
        verify(cluster, index, expected)

    monkeypatch.setattr(engine, "verify", harmed)
    with pytest.raises(EsrError, match=message):
        load(where, NEW)
    assert made(where) == []


LOADER = """
import os, signal, sys
from esr.cli import main
from esr.engines.elasticsearch.load import loading, sending
from esr.engines.elasticsearch.load.loading import ElasticsearchWriter
def killing(name):
    real = getattr(ElasticsearchWriter, name)
    def stop(self, *given):
        if moment.startswith("after"):
            real(self, *given)
        os.kill(os.getpid(), signal.SIGKILL)
    setattr(ElasticsearchWriter, name, stop)
moment = sys.argv.pop(1)
if moment == "amid bulk":
    sending._SENTENCES = 100
    real = loading.outgoing
    def outgoing(*given):
        for n, each in enumerate(real(*given)):
            if n == 75:
                os.kill(os.getpid(), signal.SIGKILL)
            yield each
    loading.outgoing = outgoing
elif moment:
    killing(moment.split()[1])
main()
"""


@pytest.mark.endurance
@pytest.mark.parametrize(
    "moment",
    [
        "after _create",
        "amid bulk",
        "after _transfer",
        "before _switch",
        "after _switch",
        "before _mark_complete",
    ],
)
@pytest.mark.parametrize("resume", [False, True], ids=["anew", "resumed"])
def test_kill(where: str, tmp_path: Path, moment: str, resume: bool) -> None:
    """`kill -9` leaves the old load, or the new one; the same command again ends with everything once."""
    load(where, OLD)
    source = tmp_path / "news.jsonl"
    texts = [[f"Flood number {n} of {d}." for n in range(20)] for d in range(100)]
    source.write_text(
        "".join(
            json.dumps({"id": f"d{d}", "sentences": [{"text": text} for text in some]}) + "\n"
            for d, some in enumerate(texts)
        )
    )
    new = {f"d{d}.s{n}" for d in range(100) for n in range(20)}
    command = ["load", str(source), "--index", where, "--if-exists", "replace"]
    killed = subprocess.run(
        [sys.executable, "-c", LOADER, moment, *command], cwd=ROOT, capture_output=True, text=True
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    switched = moment in ("after _switch", "before _mark_complete")
    assert served_ids(where) == (new if switched else {"old.s0", "old.s1"})
    left = set(made(where))
    assert len(left) == 4

    option = ["--resume"] if resume else []
    again = subprocess.run(
        [sys.executable, "-c", LOADER, "", *command, *option], cwd=ROOT, capture_output=True, text=True
    )
    assert again.returncode == 0, again.stderr
    assert served_ids(where) == new
    with esr.open(where) as searcher:
        status = searcher.index.status()
        assert (status["sentences"], status["documents"]) == (2000, 100)
    # What was served before is kept, and no more. What the killed loader left is taken up, or is not there.
    assert len(made(where)) == 4
    assert len(left & set(made(where))) == (4 if resume and not switched else 2)


def served_ids(where: str) -> set[str]:
    """Every sentence behind the alias, by plain HTTP."""
    found = http("POST", f"{where}/_search", {"size": 5000, "_source": False})["hits"]["hits"]
    assert len({hit["_id"] for hit in found}) == len(found)
    return {hit["_id"] for hit in found}


@pytest.mark.endurance
def test_kill_at_any_moment(where: str, tmp_path: Path) -> None:
    """Without a chosen moment: what is served is always one whole load."""
    source = tmp_path / "news.jsonl"
    lines = [
        json.dumps({"id": f"d{d}", "sentences": [{"text": f"Flood {n}."} for n in range(20)]})
        for d in range(300)
    ]
    source.write_text("\n".join(lines))
    load(where, OLD)
    command = [
        sys.executable,
        "-c",
        LOADER,
        "",
        "load",
        str(source),
        "--index",
        where,
        "--if-exists",
        "replace",
    ]
    for delay in (0.5, 0.9, 1.3, 1.8, 2.4):
        with subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as loader:
            time.sleep(delay)
            os.kill(loader.pid, signal.SIGKILL)
        assert http("GET", f"{where}/_count")["count"] in (2, 6000)
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    with esr.open(where) as searcher:
        assert searcher.index.status()["sentences"] == 6000


def test_what_another_process_loads_is_left_alone(where: str) -> None:
    """An unfinished load of a process that lives, or of another machine, is not removed."""
    load(where, OLD)
    url, alias = split(where)
    names = [f"{alias}-20250101t00000000000{number}-esr-sentences" for number in (0, 1)]
    for number, loader in enumerate(
        [f"elsewhere:1:{'0' * 8}", f"{socket.gethostname()}:{os.getppid()}:{'0' * 8}"]
    ):
        meta = {"esr": {"format": 1, "complete": False, "owner": loader, "analyzer": "plain", "title": True}}
        http("PUT", f"{url}/{names[number]}", {"mappings": {"_meta": meta}})
    load(where, NEW, if_exists="append")
    assert set(names) < set(made(where))
    with closing(open_generations(where)) as at:
        found = {each.name: each for each in at.all()}
        assert [found[f"20250101t00000000000{n}"].by for n in (0, 1)] == ["elsewhere", ""]
        with pytest.raises(UsageError, match="wait until it has ended"):
            at.delete(["20250101t000000000001"])
        at.delete(["20250101t000000000000"])


def test_an_alias_whose_name_begins_alike_is_another(where: str) -> None:
    load(where, OLD)
    load(f"{where}-de", NEW)
    load(f"{where}-de", OLD, if_exists="replace")
    load(where, NEW, if_exists="replace", keep=0)
    with closing(open_generations(where)) as at, closing(open_generations(f"{where}-de")) as other:
        assert (len(at.all()), len(other.all())) == (1, 2)
        at.delete_all()
        assert len(other.all()) == 2


def test_a_process_of_the_same_number_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a container that is started again the loader has the number of the one that was killed."""
    mine = owner.me()
    assert not owner.is_dead(mine)
    monkeypatch.setattr(owner, "_PROCESS", "another")
    assert owner.is_dead(mine)


def test_an_index_in_the_place_of_the_alias(where: str) -> None:
    http("PUT", where)
    for call in (lambda: load(where, NEW, if_exists="replace"), lambda: esr.open(where)):
        with pytest.raises(IndexUnusable, match="esr"):
            call()
    assert len(made(where)) == 1


def test_an_index_in_the_place_of_the_documents_alias(where: str) -> None:
    http("PUT", f"{where}-documents")
    with pytest.raises(IndexUnusable, match="-documents is an index of its own"):
        load(where, NEW)
    assert len(made(where)) == 1


def test_an_alias_of_something_else(where: str) -> None:
    url, alias = split(where)
    http("PUT", f"{url}/{alias}-mine", {"aliases": {alias: {}}})
    for call in (lambda: load(where, NEW, if_exists="replace"), lambda: esr.open(where)):
        with pytest.raises(IndexUnusable, match="-mine', which is no index of sentences that esr made"):
            call()
    assert made(where) == [f"{alias}-mine"]


def test_the_documents_alias_is_no_place(where: str) -> None:
    load(where, OLD)
    for call in (
        lambda: load(f"{where}-documents", NEW, if_exists="replace"),
        lambda: esr.open(f"{where}-documents"),
    ):
        with pytest.raises(IndexUnusable, match="no index of sentences"):
            call()
    assert served(where) == {"old.s0", "old.s1"}


def test_another_format(where: str) -> None:
    load(where, OLD)
    url, _ = split(where)
    index = next(name for name in made(where) if name.endswith("sentences"))
    meta = http("GET", f"{url}/{index}/_mapping")[index]["mappings"]["_meta"]
    meta["esr"]["format"] = 99
    http("PUT", f"{url}/{index}/_mapping", {"_meta": meta})
    with pytest.raises(IndexUnusable, match="index format 99"):
        esr.open(where)


@pytest.mark.parametrize("side", ["sentences", "documents"])
def test_the_mapping_is_strict(where: str, side: str) -> None:
    load(where, OLD)
    url, _ = split(where)
    index = next(name for name in made(where) if name.endswith(side))
    with pytest.raises(HTTPError) as raised:
        http("POST", f"{url}/{index}/_doc", {"unheard": 1})
    assert raised.value.code == 400
    assert "strict_dynamic_mapping_exception" in raised.value.read().decode()


def test_shards(where: str) -> None:
    load(where, OLD, shards=3)
    settings = http("GET", f"{where}/_settings").values()
    assert [s["settings"]["index"]["number_of_shards"] for s in settings] == ["3"]


def test_a_load_of_nothing(where: str) -> None:
    """Documents without a sentence are counted, and can be searched in vain."""
    report = load(where, [document("empty")])
    assert (report.documents, report.without_sentences) == (1, 1)
    with esr.open(where) as searcher:
        assert searcher.search("flood", candidates="all").hits == []


def test_dates_that_elasticsearch_reads_in_no_other_form() -> None:
    assert common_date("2017-02-28") == "2017-02-28"
    assert common_date("2017-02-28T10:00:00Z") == "2017-02-28T10:00:00Z"


def test_elasticsearch_is_gone_before_the_load(tmp_path: Path) -> None:
    with pytest.raises(EngineUnreachable, match=r"cannot reach Elasticsearch at http://127\.0\.0\.1:9"):
        open_writer("http://127.0.0.1:9/news", LoadOptions()).load(located(NEW))
