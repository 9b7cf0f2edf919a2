"""The desk of a real server: two people write at once, and it is killed at any moment."""

from __future__ import annotations

import importlib
import json
import os
import random
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import urllib3
from click.testing import CliRunner

import esr
from esr.cli import main
from tests.support.elasticsearch import document, load
from tests.support.process import free_ports
from tests.support.processes import ForkedProcess, wait_until
from tests.support.runs import rounds

pytestmark = [pytest.mark.slow, pytest.mark.endurance]
SENTENCES = 400


def serve_in_own_group(where: str, port: int, settings: dict[str, str]) -> None:
    """Serve an index with two workers, in a group of processes that can be killed at once."""
    os.setsid()
    os.environ |= {"ESR_WORKERS": "2", "ESR_ACCESS_LOG": "0"} | settings
    importlib.import_module("webui").serve(where, "127.0.0.1", port)


@contextmanager
def running(where: str, **settings: str) -> Iterator[tuple[str, ForkedProcess]]:
    """The address of a server of two workers, and its process, which is killed with all of them."""
    (port,) = free_ports(1)
    process = ForkedProcess(serve_in_own_group, where, port, settings)
    try:
        address = f"http://127.0.0.1:{port}/"
        wait_until(lambda: is_served(address) or not process.is_running, "the server", 120)
        assert process.is_running, process.finish()
        yield address, process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()


def is_served(address: str) -> bool:
    """Whether a server answers."""
    try:
        return urllib3.request("GET", f"{address}healthz", retries=False, timeout=60).status == 200
    except urllib3.exceptions.HTTPError:
        return False


class Writer(threading.Thread):
    """Adds sentences to a dossier and tags them, one after the other, until the server is gone."""

    def __init__(self, address: str, key: str, id: str, numbers: range) -> None:
        super().__init__(daemon=True)
        self._address, self._id, self._numbers = address, id, numbers
        self._pool = urllib3.PoolManager(
            headers={"Authorization": f"Bearer {key}"}, retries=False, timeout=60
        )
        self.added = set[str]()
        self.tagged = set[str]()
        self.failure = ""
        self.end = ""

    def post(self, path: str, **body: Any) -> dict[str, Any]:
        """The answer to a change. While the server opens the index, it may be busy, and changes nothing."""
        while True:
            address = f"{self._address}api/v1/dossiers{path}"
            answer = self._pool.request("POST", address, json={"id": self._id, **body})
            if answer.status != 503:
                break
            time.sleep(0.1)
        if answer.status != 200:
            self.failure = answer.data.decode()
        data: dict[str, Any] = json.loads(answer.data)
        return data

    def run(self) -> None:
        try:
            for number in self._numbers:
                (item,) = self.post("/add", sentences=[f"a.s{number}"])["items"]
                self.added.add(item["sentence_id"])
                self.post("/edit", item=item["id"], tags=["seen"], note="why", base=item["version"])
                self.tagged.add(item["sentence_id"])
        except urllib3.exceptions.HTTPError as error:
            self.end = repr(error)


def test_what_a_killed_server_has_acknowledged_is_there(tmp_path: Path) -> None:
    where, access, desk = (str(tmp_path / name) for name in ("index", "access.json", "desk"))
    load(where, [document("a", *(f"Sentence {number}." for number in range(SENTENCES)))])
    keys = [
        CliRunner().invoke(main, ["keys", "add", name, "--file", access]).stdout.strip()
        for name in ("ann", "bob")
    ]
    chance = random.Random(11)
    for turn in range(rounds(100)):
        with esr.open_dossiers(desk, account="ann") as ann:
            id = ann.create(f"Turn {turn}").id
            ann.share(id, "bob", "writer")
        with running(where, ESR_ACCESS=access, ESR_DESK=desk) as (address, process):
            halves = range(0, SENTENCES, 2), range(1, SENTENCES, 2)
            writers = [Writer(address, key, id, half) for key, half in zip(keys, halves, strict=True)]
            for writer in writers:
                writer.start()
            deadline = time.monotonic() + 120
            while not all(writer.tagged or writer.failure for writer in writers):
                assert time.monotonic() < deadline, [(w.is_alive(), w.added, w.end) for w in writers]
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 0.5))
            os.killpg(process.pid, signal.SIGKILL)
            for writer in writers:
                writer.join(60)
        with esr.open_dossiers(desk, account="bob") as bob:
            dossier, changes = bob.read(id), bob.history(id)
        held = {item.sentence_id: item for item in dossier.items}
        assert len(held) == len(dossier.items), "nothing is there twice"
        for writer in writers:
            assert not writer.failure
            assert writer.added <= set(held)
            assert all(held[sentence].tags == ("seen",) for sentence in writer.tagged)
        assert all((item.tags, item.note) in ((("seen",), "why"), ((), "")) for item in held.values())
        assert {change.who for change in changes} == {"ann", "bob"}
        assert [change.version for change in changes] == list(range(dossier.version, 0, -1))
