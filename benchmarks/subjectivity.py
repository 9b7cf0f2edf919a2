"""How well `subj` and `subj_score` tell subjective from objective sentences.

    python benchmarks/subjectivity.py FILE.tsv [FILE.tsv ...] [--lexicon WORDS ...] [--rule clues]

A file has a head and lines of id, SUBJ or OBJ, and text, set apart by tabs. Printed for each file, and for
all of them whose names begin alike up to the last hyphen: the area under the ROC curve of `subj_score` with
its standard error (Hanley & McNeil 1982), and the macro-averaged F1 of `subj`.

Files that fit: Pang & Lee 2004 and NewsSD-ENG (Antici et al. 2024), both under CC BY 4.0. They are no part of
esr. Nothing was trained on them.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from esr.documents import Document, Sentence
from esr.enrichment.enricher import Enricher
from esr.features import RULES


class Judged(NamedTuple):
    """One entry a sentence: whether people call it subjective, its score, and whether `subj` does."""

    true: npt.NDArray[np.bool_]
    score: npt.NDArray[np.float64]
    found: npt.NDArray[np.bool_]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("files", nargs="+", type=Path)
    options.add_argument("--lexicon", action="append", default=[], help="in place of the default lexicon")
    options.add_argument("--rule", choices=RULES, default="score")
    given = options.parse_args()
    enricher = Enricher(["features"], lexicon=given.lexicon, rule=given.rule)
    judged = {path.stem: judge(path, enricher) for path in given.files}
    for group in sorted({name.rpartition("-")[0] for name in judged} - {""}):
        some = [each for name, each in judged.items() if name.rpartition("-")[0] == group]
        if len(some) > 1:
            judged[f"{group}-*"] = Judged(*map(np.concatenate, zip(*some, strict=True)))
    for name, each in judged.items():
        area, error = auc(each)
        print(
            f"{name:18} {len(each.true):6} sentences  AUC {area:.3f} +- {error:.3f}  F1 {macro_f1(each):.3f}"
        )


def judge(path: Path, enricher: Enricher) -> Judged:
    """Each sentence by itself. One of which nothing is known counts as objective."""
    lines = path.read_text("utf-8").splitlines()[1:]
    rows = [line.split("\t", 2) for line in lines]
    documents = [Document(id, (Sentence(id, text),)) for id, _, text in rows]
    features = [sentences[0].features for sentences in enricher.enrich_batch(documents)]
    return Judged(
        np.array([label == "SUBJ" for _, label, _ in rows]),
        np.array([known.get("subj_score", 0.0) for known in features]),
        np.array([known.get("subj", 0.0) == 1 for known in features]),
    )


def auc(judged: Judged) -> tuple[float, float]:
    """The area under the ROC curve, ties counted half, and its standard error."""
    yes = int(judged.true.sum())
    no = len(judged.true) - yes
    area = float((rankdata(judged.score)[judged.true].sum() - yes * (yes + 1) / 2) / (yes * no))
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area) + (yes - 1) * (q1 - area**2) + (no - 1) * (q2 - area**2)
    return area, sqrt(variance / (yes * no))


def macro_f1(judged: Judged) -> float:
    return float(np.mean([_f1(judged.true, judged.found), _f1(~judged.true, ~judged.found)]))


def _f1(true: Iterable[bool], found: Iterable[bool]) -> float:
    true, found = np.asarray(true), np.asarray(found)
    return float(2 * (true & found).sum() / (true.sum() + found.sum()))


if __name__ == "__main__":
    main()
