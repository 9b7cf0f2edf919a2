"""Indices that earlier versions made, put where the present one can open them: tests/data/indexes."""

from __future__ import annotations

import gzip
import json
import os
import tarfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from esr.folder.format import manifest
from tests.support.elasticsearch import http
from tools.index_fixture import INDEXES, PROJECT, STORED_ALIAS

FOLDERS = sorted((PROJECT / INDEXES).glob("*.tar.gz"))
EXPORTS = sorted((PROJECT / INDEXES).glob("*.ndjson.gz"))
"""What servers had of an index: requests that create its indices, and their entries."""
KIND_VARIABLE = "ESR_TEST_SERVER"
"""The kind of the server that the tests have, as in the names of exports. By default Elasticsearch."""


def list_exports_of_server() -> list[Path]:
    """Those that a server of this kind made: Elasticsearch and OpenSearch have other types of fields."""
    kind = os.environ.get(KIND_VARIABLE, "elasticsearch")
    return [file for file in EXPORTS if file.name.startswith(f"{kind}-")]


def unpack_folder(file: Path, target: Path) -> str:
    """The index folder of an archive, unpacked below `target`."""
    with tarfile.open(file) as archive:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # since Python 3.11.4
        archive.extractall(target, **safely)
    return str(target / "index")


def import_export(file: Path, where: str) -> None:
    """Make the stored indices again behind the alias of `where`, `URL/alias`."""
    url, _, alias = where.rpartition("/")
    entries: dict[str, list[str]] = defaultdict(list)
    for line in read_export(file, alias):
        if "body" in line:
            # The template of the present version, if the node has it, does not apply to an older index.
            line["body"]["settings"]["index"].setdefault("final_pipeline", "_none")
            http("PUT", f"{url}/{line['index']}", line["body"])
        else:
            action = {"index": {"_index": line["index"], "_id": line["id"]}}
            entries[line["index"]] += [json.dumps(action), json.dumps(line["source"])]
    for index, lines in entries.items():
        answer = http("POST", f"{url}/{index}/_bulk?refresh=true", "\n".join([*lines, ""]))
        assert not answer["errors"], answer


def read_export(file: Path, alias: str = STORED_ALIAS) -> Iterable[Mapping[str, Any]]:
    """The lines of an export, whose indices get names of this alias."""
    text = gzip.decompress(file.read_bytes()).decode().replace(STORED_ALIAS, alias)
    return map(json.loads, text.splitlines())


def format_of(file: Path, folder: Path) -> int:
    """The format of a stored index. `folder` is for temporary files."""
    if file in FOLDERS:
        return manifest.read_any_format(Path(unpack_folder(file, folder))).format
    (number,) = {
        line["body"]["mappings"]["_meta"]["esr"]["format"] for line in read_export(file) if "body" in line
    }
    return int(number)
