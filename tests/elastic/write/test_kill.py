"""Loads into a real Elasticsearch that are killed: what is served is always one complete load."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from esr.ranking.searcher import open_searcher
from tests.support.elasticsearch import all_indices, document, http, load
from tests.support.forked import ForkedProcess, run_esr
from tests.support.killed_load import AMID_BULK, load_until

OLD = [document("old", "An old flood.", "A river.")]


def all_ids(where: str) -> set[str]:
    """The ids of all sentences behind the alias, by plain HTTP."""
    hits = http("POST", f"{where}/_search", {"size": 5000, "_source": False})["hits"]["hits"]
    assert len({hit["_id"] for hit in hits}) == len(hits)
    return {hit["_id"] for hit in hits}


@pytest.mark.endurance
@pytest.mark.parametrize(
    "moment",
    [
        "after _create_load",
        AMID_BULK,
        "after _transfer",
        "before _switch",
        "after _switch",
        "before _mark_complete",
    ],
)
@pytest.mark.parametrize("resume", [False, True], ids=["anew", "resumed"])
def test_a_killed_load_can_be_repeated_or_resumed(
    where: str, tmp_path: Path, moment: str, resume: bool
) -> None:
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
    command = [source, "--index", where, "--if-exists", "replace"]
    assert ForkedProcess(load_until, moment, command).wait() == -signal.SIGKILL
    switched = moment in ("after _switch", "before _mark_complete")
    assert all_ids(where) == (new if switched else {"old.s0", "old.s1"})
    left = set(all_indices(where))
    assert len(left) == 4

    option = ["--resume"] if resume else []
    ForkedProcess(run_esr, ["load", *command, *option]).finish()
    assert all_ids(where) == new
    with open_searcher(where) as searcher:
        status = searcher.index.status()
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
    load(where, OLD)
    command = ["load", source, "--index", where, "--if-exists", "replace"]
    for delay in (0.1, 0.3, 0.6, 1.0, 1.6):
        loader = ForkedProcess(run_esr, command)
        time.sleep(delay)
        loader.kill()
        assert http("GET", f"{where}/_count")["count"] in (2, 6000)
    ForkedProcess(run_esr, command).finish()
    with open_searcher(where) as searcher:
        assert searcher.index.status()["sentences"] == 6000
