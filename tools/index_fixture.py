"""Store an index of this version for the tests of later ones: `python -m tools.index_fixture`.

The articles of `examples/` are loaded and enriched, and the folder is packed as
`tests/data/indexes/format-N.tar.gz`, where N is the format of indices. With the address of a node,
`python -m tools.index_fixture URL` stores what the server has of such an index, as lines of JSON:
`tests/data/indexes/SERVER-VERSION.ndjson.gz`. In every later version, `tests/index/test_stored_indices.py`
opens or migrates both. Make each once for a format that is released.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

PROJECT = Path(__file__).resolve().parents[1]
INDEXES = Path("tests/data/indexes")
STORED_ALIAS = "esr-stored-index"
"""The alias that stored indices of servers have. The tests give them one of their own."""
_ESR = "from esr.cli import main; main()"
_OF_THE_SERVER = ("creation_date", "provided_name", "routing", "uuid", "version")
"""Settings that a server sets itself."""


def fixture(format: int) -> Path:
    """The path of the stored index of a format."""
    return INDEXES / f"format-{format}.tar.gz"


def make(where: str) -> None:
    for arguments in (("load", str(PROJECT / "examples/articles.jsonl")), ("enrich",)):
        command = [sys.executable, "-c", _ESR, *arguments, "--index", where]
        subprocess.run(command, cwd=PROJECT, check=True, env={**os.environ, "ESR_MEANING": "no"})


def main() -> None:
    file = store_of_server(sys.argv[1].rstrip("/")) if sys.argv[1:] else store_folder()
    print(f"{file}: {file.stat().st_size:,} bytes")


def store_folder() -> Path:
    from esr.folder.format.manifest import FORMAT

    file = _new_file(fixture(FORMAT))
    with tempfile.TemporaryDirectory() as name:
        make(str(Path(name) / "index"))
        with tarfile.open(file, "w:gz") as archive:
            archive.add(Path(name) / "index", "index", filter=_without_owner)
    return file


def store_of_server(url: str) -> Path:
    import esr

    version = _get(url)["version"]
    file = _new_file(INDEXES / f"{version.get('distribution', 'elasticsearch')}-{esr.__version__}.ndjson.gz")
    make(f"{url}/{STORED_ALIAS}")
    lines = [line for index in sorted(_get(f"{url}/{STORED_ALIAS}*")) for line in _export(url, index)]
    # The process that made an index is named by its host.
    text = re.sub(r'"owner": "[^"]*"', '"owner": "host:1-1:1:1"', "".join(map(_write_line, lines)))
    file.write_bytes(gzip.compress(text.encode(), mtime=0))
    for index in _get(f"{url}/{STORED_ALIAS}*"):
        _get(f"{url}/{index}", "DELETE")
    return file


def _new_file(path: Path) -> Path:
    file = PROJECT / path
    if file.exists():
        sys.exit(f"{file} exists: a released index does not change")
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def _export(url: str, index: str) -> Iterator[Any]:
    """An index as a request that creates it, its name, and the entries that fill it."""
    (body,) = _get(f"{url}/{index}").values()
    settings = {key: value for key, value in body["settings"]["index"].items() if key not in _OF_THE_SERVER}
    yield {"index": index, "body": {**body, "settings": {"index": settings}}}
    # Elasticsearch 9.2 leaves vectors out unless told otherwise; others know no such argument.
    version = _get(url)["version"]
    with_vectors = "" if version.get("distribution") else "&_source_exclude_vectors=false"
    for hit in _get(f"{url}/{index}/_search?size=1000&sort=ordinal{with_vectors}")["hits"]["hits"]:
        yield {"index": index, "id": hit["_id"], "source": hit["_source"]}


def _write_line(line: Any) -> str:
    return json.dumps(line, ensure_ascii=False) + "\n"


def _get(url: str, method: str = "GET") -> Any:
    with urlopen(Request(url, method=method), timeout=60) as answer:  # nosec B310  # a node that the caller names
        return json.load(answer)


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main()
