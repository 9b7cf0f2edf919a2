"""Prints how much of each folder is executed: `python -m tools.coverage_folders build/coverage.json`.

The file is what `coverage json` writes; `make coverage` makes it. Lines and branches count alike.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

FULL = (
    "esr/access/",
    "webui/access/",
    "esr/folder/format/checkpoint.py",
    "esr/folder/format/clean_up.py",
    "esr/folder/format/damage.py",
    "esr/folder/format/manifest.py",
    "esr/folder/write/maintenance.py",
)
"""What must be covered completely: who may search, and what recovers a folder."""
LEAST = 95.0
"""Per cent of the rest, in all."""


class Share(NamedTuple):
    """Lines and branches, and how many of them were executed."""

    covered: int = 0
    all: int = 0

    def __add__(self, other: Share) -> Share:  # type: ignore[override]
        return Share(self.covered + other.covered, self.all + other.all)

    @property
    def percent(self) -> float:
        return 100 * self.covered / self.all if self.all else 100.0


def share_of(file: Mapping[str, Any]) -> Share:
    """The share of a file in the report."""
    summary = file["summary"]
    return Share(
        summary["covered_lines"] + summary.get("covered_branches", 0),
        summary["num_statements"] + summary.get("num_branches", 0),
    )


def missing_of(file: Mapping[str, Any]) -> list[str]:
    """What was not executed: ranges of lines, then branches as *from->to*; *exit* ends a function."""
    lines = sorted(file["missing_lines"])
    ranges: list[list[int]] = []
    for line in lines:
        if ranges and line == ranges[-1][1] + 1:
            ranges[-1][1] = line
        else:
            ranges.append([line, line])
    branches = [
        f"{start}->{'exit' if end < 0 else end}"
        for start, end in file.get("missing_branches", ())
        if start not in lines and end not in lines
    ]
    return [str(low) if low == high else f"{low}-{high}" for low, high in ranges] + branches


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the shares. Returns 1 if a goal is missed, so that a job fails."""
    parser = argparse.ArgumentParser(prog="python -m tools.coverage_folders", description=__doc__)
    parser.add_argument("report", type=Path)
    parser.add_argument("--missing", action="store_true", help="list what was not executed, by file")
    options = parser.parse_args(arguments)
    files: dict[str, Any] = json.loads(options.report.read_text("utf-8"))["files"]
    shares: dict[str, Share] = {}
    for path, file in sorted(files.items()):
        folder = str(Path(path).parent)
        shares[folder] = shares.get(folder, Share()) + share_of(file)
    for folder, share in shares.items():
        print(f"{share.percent:6.1f} %  {share.all - share.covered:5}  {folder}")
    total = sum(shares.values(), Share())
    print(f"{total.percent:6.1f} %  {total.all - total.covered:5}  in all")
    incomplete = {
        path: missing
        for path, file in files.items()
        if path.startswith(FULL) and (missing := missing_of(file))
    }
    listed = {path: missing_of(file) for path, file in files.items()} if options.missing else incomplete
    for path, missing in sorted(listed.items()):
        if missing:
            print(f"{path}: {', '.join(missing)}")
    return int(bool(incomplete) or total.percent < LEAST)


if __name__ == "__main__":
    sys.exit(main())
