"""Store an index of this version for the tests of later ones: `python tools/index_fixture.py`.

The articles of `examples/` are loaded and enriched, and the folder is packed as
`tests/data/indexes/format-N.tar.gz`, where N is the format of indices. In every later version,
`tests/index/test_migration.py` opens or migrates it. Make it once for each format that is released.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
INDEXES = Path("tests/data/indexes")
_ESR = "from esr.cli import main; main()"


def fixture(format: int) -> Path:
    """The path of the stored index of a format."""
    return INDEXES / f"format-{format}.tar.gz"


def make(folder: Path) -> None:
    for arguments in (("load", str(PROJECT / "examples/articles.jsonl")), ("enrich",)):
        command = [sys.executable, "-c", _ESR, *arguments, "--index", str(folder)]
        subprocess.run(command, cwd=PROJECT, check=True)


def main() -> None:
    from esr.folder.format.manifest import FORMAT

    file = PROJECT / fixture(FORMAT)
    if file.exists():
        sys.exit(f"{file} exists: a released index does not change")
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        make(Path(name) / "index")
        with tarfile.open(file, "w:gz") as archive:
            archive.add(Path(name) / "index", "index", filter=_without_owner)
    print(f"{file}: {file.stat().st_size:,} bytes")


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main()
