"""Run random histories of an index in a simulated world.

python -m tests.simulation --seed 1 --histories 1000        1,000 histories, those of the seeds from 1 on
python -m tests.simulation --seed 471                       one history again
python -m tests.simulation --seed 471 --replay 'HISTORY'    one that was shrunk
python -m tests.simulation --alerts --histories 500         histories with alerts
python -m tests.simulation --planted --histories 2000       whether each planted fault is found
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.simulation.planted import FAULTS
from tests.simulation.runner import Defect, Finding, check_history, check_many, find_fault, shrink
from tests.simulation.steps import decode, describe, draw_alert_history, draw_history, encode


def main() -> int:
    _fix_hashes()
    options = _read_options()
    if options.replay:
        defect = check_history(decode(options.replay), options.seed)
        print(defect.reason if defect else "the history is as the model says")
        return int(defect is not None)
    if options.planted is not None:
        return _find_faults(options)
    counts, seconds, defects = Counter[str](), 0.0, list[Defect]()
    limit = 60 * options.minutes if options.minutes else float("inf")
    draw = draw_alert_history if options.alerts else draw_history
    for found, counted, spent in check_many(options.seed, options.histories, limit, options.processes, draw):
        defects += found
        counts += counted
        seconds += spent
    names = ["histories", "steps", "crashes", "visits", "comparisons", "searches"]
    names += ["alert runs", "kills", "meetings"] * options.alerts
    told = ", ".join(f"{counts[name]:,} {name}" for name in names)
    rate = 60 * counts["histories"] / seconds
    print(f"{told}, from seed {options.seed} on")
    print(f"{seconds:.0f} s of processor time, {rate:.0f} histories a minute")
    for defect in defects[:10]:
        _tell(defect, shrinks=len(defects) <= 3)
    return int(bool(defects))


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.simulation",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--histories", type=int, default=1)
    parser.add_argument("--minutes", type=float, help="begin no history after so many minutes")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--alerts", action="store_true", help="histories with alerts, killed between calls")
    parser.add_argument("--replay", metavar="HISTORY", help="a history as this command prints it")
    parser.add_argument(
        "--planted",
        nargs="?",
        const="",
        metavar="WORDS",
        help="plant the faults with these words in their names",
    )
    return parser.parse_args()


def _fix_hashes() -> None:
    """Sets are iterated in the order of their hashes: let them be the same each time."""
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, "-m", "tests.simulation", *sys.argv[1:]])


def _tell(defect: Defect, shrinks: bool) -> None:
    print(f"\nseed {defect.seed}: {defect.reason}")
    if shrinks:
        defect = shrink(defect)
        print("shrunk:", defect.reason)
    print(*describe(defect.history), sep="\n")
    print(f"python -m tests.simulation --seed {defect.seed} --replay '{encode(defect.history)}'")


def _find_faults(options: argparse.Namespace) -> int:
    numbers = [number for number, fault in enumerate(FAULTS) if options.planted in fault.name]
    find = partial(find_fault, first=options.seed, histories=options.histories)
    findings: list[Finding] = []
    with ProcessPoolExecutor(options.processes) as pool:
        for finding in pool.map(find, numbers):
            findings.append(finding)
            mark = "found" if finding.defect else "NOT FOUND"
            reason = finding.defect.reason.splitlines()[0][:110] if finding.defect else ""
            print(
                f"{mark} {finding.histories:5} {finding.seconds:6.1f} s  {finding.fault}: {reason}",
                flush=True,
            )
    print(f"{sum(finding.defect is not None for finding in findings)} of {len(findings)} faults found")
    return int(any(finding.defect is None for finding in findings))


if __name__ == "__main__":
    sys.exit(main())
