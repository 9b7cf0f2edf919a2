"""Compare what esr loads of public news data sets with plain readings of their files.

Clone the repositories that the command names into one folder:

    python -m tools.data_sets FOLDER

Every data set is loaded with the options in `catalog.py` and exported again. A reading by Python's own csv,
json, html and xml modules is compared with that, word by word. `--verbose` prints what each load said. The
exit status is 1 if a load failed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tools.data_sets.catalog import DATA_SETS, DataSet
from tools.data_sets.comparison import Comparison, compare

_COLUMNS = ("data set", "shape", "options", "articles", "distinct", "loaded", "letters", "missing", "further")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="a folder with the clones")
    parser.add_argument("--only", default="", help="data sets whose name has this in it")
    parser.add_argument("--verbose", action="store_true", help="print what each load said")
    arguments = parser.parse_args()
    chosen = [data_set for data_set in DATA_SETS if arguments.only in data_set.name]
    absent = [data_set for data_set in chosen if not data_set.find(arguments.folder)]
    for repository in sorted({data_set.repository for data_set in absent}):
        print(f"not there: git -C {arguments.folder} clone https://github.com/{repository}", file=sys.stderr)
    print(f"| {' | '.join(_COLUMNS)} |\n| --- | --- | --- | --: | --: | --: | --: | --: | --: |")
    failed = False
    for data_set in chosen:
        if data_set in absent:
            continue
        with tempfile.TemporaryDirectory(prefix="esr-data-set-") as scratch:
            comparison = compare(data_set, arguments.folder, Path(scratch))
        print(_row(data_set, comparison), flush=True)
        failed = failed or not comparison.documents
        if arguments.verbose or not comparison.documents:
            for line in (*comparison.notes, *(comparison.error or "").splitlines()):
                print(f"  {line}", file=sys.stderr, flush=True)
    sys.exit(int(failed))


def _row(data_set: DataSet, comparison: Comparison) -> str:
    options = " ".join(f"`{option}`" if option.startswith("--") else option for option in data_set.options)
    missing, further = (
        f"{count / max(1, comparison.letters):.2%}" for count in (comparison.missing, comparison.further)
    )
    counts = " | ".join(
        f"{count:,}"
        for count in (comparison.articles, comparison.distinct, comparison.documents, comparison.letters)
    )
    return f"| {data_set.name} | {data_set.shape} | {options} | {counts} | {missing} | {further} |"


if __name__ == "__main__":
    main()
