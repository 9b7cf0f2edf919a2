"""How well `subj` and `subj_score` separate subjective from objective sentences.

    python benchmarks/studies/subjectivity.py FILE.tsv [FILE.tsv ...] [--lexicon WORDS ...] [--rule clues]

A file has a header line and lines of id, SUBJ or OBJ, and text, separated by tabs. Prints for each file, and
for each group of files with the same name up to the last hyphen, the area under the ROC curve of `subj_score`
with its standard error (Hanley & McNeil 1982), and the macro-averaged F1 of `subj`.

Suitable files: Pang & Lee 2004 and NewsSD-ENG (Antici et al. 2024), both under CC BY 4.0. They are not
part of esr, and nothing was trained on them.
"""

from __future__ import annotations

import argparse
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from esr.enrichment.enricher import Enricher
from esr.features import RULES
from esr.text.document import Document, Sentence


class Predictions(NamedTuple):
    """By sentence: whether people call it subjective, its score, and whether `subj` calls it subjective."""

    label: npt.NDArray[np.bool_]
    score: npt.NDArray[np.float64]
    predicted: npt.NDArray[np.bool_]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("files", nargs="+", type=Path)
    options.add_argument("--lexicon", action="append", default=[], help="replaces the default lexicon")
    options.add_argument("--rule", choices=RULES, default="score")
    arguments = options.parse_args()
    enricher = Enricher(["features"], lexicon=arguments.lexicon, rule=arguments.rule)
    by_file = {path.stem: predict(path, enricher) for path in arguments.files}
    for group in sorted({name.rpartition("-")[0] for name in by_file} - {""}):
        members = [p for name, p in by_file.items() if name.rpartition("-")[0] == group]
        if len(members) > 1:
            by_file[f"{group}-*"] = Predictions(*map(np.concatenate, zip(*members, strict=True)))
    for name, predictions in by_file.items():
        area, error = auc(predictions)
        figures = f"AUC {area:.3f} +- {error:.3f}  F1 {macro_f1(predictions):.3f}"
        print(f"{name:18} {len(predictions.label):6} sentences  {figures}")


def predict(path: Path, enricher: Enricher) -> Predictions:
    """Enrich each sentence as a separate document. A sentence without features counts as objective."""
    lines = path.read_text("utf-8").splitlines()[1:]
    rows = [line.split("\t", 2) for line in lines]
    documents = [Document(id, (Sentence(id, text),)) for id, _, text in rows]
    features = [sentences[0].features for sentences in enricher.enrich_batch(documents)]
    return Predictions(
        np.array([label == "SUBJ" for _, label, _ in rows]),
        np.array([values.get("subj_score", 0.0) for values in features]),
        np.array([values.get("subj", 0.0) == 1 for values in features]),
    )


def auc(predictions: Predictions) -> tuple[float, float]:
    """The area under the ROC curve of the scores, and its standard error."""
    return measure_area(predictions.label, predictions.score)


def measure_area(label: npt.NDArray[np.bool_], score: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The area under the ROC curve, where ties count half, and its standard error."""
    yes = int(label.sum())
    no = len(label) - yes
    rank_sum = rankdata(score)[label].sum()
    area = float((rank_sum - yes * (yes + 1) / 2) / (yes * no))
    q1, q2 = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area) + (yes - 1) * (q1 - area**2) + (no - 1) * (q2 - area**2)
    return area, sqrt(variance / (yes * no))


def macro_f1(predictions: Predictions) -> float:
    label, predicted = predictions.label, predictions.predicted
    return float(np.mean([_f1(label, predicted), _f1(~label, ~predicted)]))


def _f1(label: npt.NDArray[np.bool_], predicted: npt.NDArray[np.bool_]) -> float:
    return float(2 * (label & predicted).sum() / (label.sum() + predicted.sum()))


if __name__ == "__main__":
    main()
