"""Sources of `esr sync` that a plug-in declares."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import pytest

import esr
from esr.plugin import Fetcher, FetchReport, Plugin, SyncSource, register, unregister, write_file
from tests.cli.conftest import call


class Wire:
    """A made-up wire: each address is one document."""

    def __init__(self, addresses: Sequence[str], folder: Path, values: Mapping[str, Any]) -> None:
        self.folder = folder
        self._addresses = addresses
        self._words = values["words"]

    def fetch(self, target: Path | None = None) -> FetchReport:
        folder = target or self.folder
        folder.mkdir(parents=True, exist_ok=True)
        for address in self._addresses:
            fields = {"id": address, "text": f"A {self._words} came from {address}."}
            write_file(folder / f"{address}.jsonl", [json.dumps(fields).encode()], 1e9)
        return FetchReport(len(self._addresses), new=len(self._addresses))


def open_wire(addresses: Sequence[str], folder: Path, values: Mapping[str, Any]) -> Fetcher:
    return Wire(addresses, folder, values)


OPTIONS = (click.option("--words", default="storm"), click.option("--max-seconds", type=float, default=3.0))
SOURCE = SyncSource("wires", "stories", "wire:NAME", open_wire, OPTIONS, ("detect-language",))


@pytest.mark.slow
def test_sync_reads_a_source_of_a_plugin_with_its_options(tmp_path: Path) -> None:
    plugin = Plugin(name="mine", sources={"wires": SOURCE})
    (tmp_path / "news.toml").write_text(
        'words = "flood"\nmax-seconds = 2\n[[source]]\nwires = ["one", "two"]\n'
        '[[source]]\nwires = ["three"]\nwords = "quake"\n'
    )
    register(plugin)
    try:
        done = call("sync", tmp_path / "news.toml", "--index", tmp_path / "index")
    finally:
        unregister(plugin)
    assert done.exit_code == 0 and "3 wires, 0 of them failed; stories: 3 new" in done.output
    with esr.open(tmp_path / "index") as index:
        assert {hit.document_id for hit in index.search("flood", candidates="matching")} == {"one", "two"}
        assert len(index.search("quake", candidates="matching")) == 1
