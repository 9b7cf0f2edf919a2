"""`python -m tools.mutation esr/plans`, or `make mutation PATHS="esr/plans esr/query"`."""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tools.mutation.interpreted import KERNEL
from tools.mutation.mutants import Mutant, changed_lines, find_mutants, read_equivalents, sample
from tools.mutation.trials import KILLED, UNDECIDED, Target, try_mutants

FURTHER = {
    "esr/plans": (
        "tests/models/test_static_scores.py",
        "tests/folder/search/test_pruning.py",
        "tests/folder/search/test_impacts.py",
    ),
    "esr/folder/format": ("tests/folder", "tests/index", "tests/enrichment", "tests/following"),
    "esr/evidence": ("tests/index/test_reuse.py",),
    "esr/index": ("tests/folder", "tests/following", "tests/ranking"),
    "esr/ranking": ("tests/index", "tests/following", "tests/evidence"),
    "webui/answers": ("tests/webui/api", "tests/webui/pages"),
    KERNEL: ("tests/encoders/test_folder.py",),
}
"""Folders of tests that exercise a folder beside its mirrored tests."""


def mirrored(folder: str) -> str:
    """The tests of a folder, or of the nearest one above that has some; for the kernel, those of searches."""
    if folder.startswith(KERNEL):
        return "tests/folder/search"
    path = Path("tests", *Path(folder).parts[folder.startswith("esr") :])
    while not path.exists():
        path = path.parent
    return str(path)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.mutation", description=__doc__)
    parser.add_argument(
        "paths", nargs="*", help="folders, files or lines (FILE:LINE); all folders of esr and webui if none"
    )
    parser.add_argument("--since", help="only lines that changed since this commit")
    parser.add_argument("--sample", type=int, default=150, help="mutants of each path (150)")
    parser.add_argument("--seed", type=int, help="of the sample, to repeat it")
    parser.add_argument("--minutes", type=float, default=30.0, help="after which a path ends (30)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once")
    parser.add_argument("--slow", action="store_true", help="also the tests that are marked slow")
    parser.add_argument("--least", type=float, default=0.0, help="fail if less per cent are killed")
    options = parser.parse_args(arguments)
    seed = random.randrange(1 << 32) if options.seed is None else options.seed
    equivalents = read_equivalents()
    has_failed = False
    for folder, mutants in _collect(options.paths, options.since).items():
        started = time.monotonic()
        chosen = sample(mutants, options.sample, seed, equivalents)
        print(f"{folder}: {len(chosen)} of {len(mutants)} mutants, --seed {seed}", flush=True)
        if not chosen:  # all are equivalent
            continue
        outcomes: Counter[str] = Counter()

        def report(mutant: Mutant, outcome: str, outcomes: Counter[str] = outcomes) -> None:
            outcomes[outcome] += 1
            if outcome != KILLED:
                before, after = mutant.lines()
                print(
                    f"{outcome}: {mutant.path}:{mutant.line} {mutant.operator}\n  - {before}\n  + {after}",
                    flush=True,
                )

        further = FURTHER.get(folder) or FURTHER.get(str(Path(folder).parent), ())
        target = Target(folder, [mirrored(folder)], further, options.slow)
        try_mutants(target, chosen, seed, options.jobs, started + 60 * options.minutes, report)
        tried = outcomes.total() - outcomes[UNDECIDED]
        share = 100 * outcomes[KILLED] / max(tried, 1)
        untried = len(chosen) - outcomes.total()
        rest = f"; {outcomes[UNDECIDED]} undecided" if outcomes[UNDECIDED] else ""
        rest += f"; {untried} not tried for want of time" if untried else ""
        print(f"{folder}: {outcomes[KILLED]} of {tried} killed, {share:.0f} %{rest}", flush=True)
        has_failed |= share < options.least
    return int(has_failed)


def _collect(paths: Sequence[str], since: str | None) -> dict[str, list[Mutant]]:
    """The mutants of each path, or of each folder with changed lines."""
    if since is None:
        return {
            path: [mutant for file, lines in _files(path) for mutant in find_mutants(file, lines)]
            for path in paths or _folders()
        }
    found: dict[str, list[Mutant]] = {}
    for file, lines in changed_lines(since).items():
        if file.startswith(tuple(paths or ("esr/", "webui/"))):
            found.setdefault(str(Path(file).parent), []).extend(find_mutants(file, lines))
    return {folder: mutants for folder, mutants in found.items() if mutants}


def _folders() -> list[str]:
    return sorted({str(file.parent) for package in ("esr", "webui") for file in Path(package).rglob("*.py")})


def _files(path: str) -> list[tuple[str, set[int] | None]]:
    """The files of a path, each with the lines that are changed; None for all of them."""
    if Path(path).is_dir():
        return [(str(file), None) for file in sorted(Path(path).glob("*.py"))]
    file, _, line = path.partition(":")
    return [(file, {int(line)} if line else None)]


if __name__ == "__main__":
    sys.exit(main())
