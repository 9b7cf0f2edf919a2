"""How well sentences are told apart, on labelled sentences that are not part of the project.

They are looked for in a folder `shared` beside it. benchmarks/studies/subjectivity.py prints the figures.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.studies import subjectivity
from esr.enrichment.enricher import Enricher
from tests.support.endurance import only_long

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT.parent / "shared" / "collections" / "subjectivity"
# The least area under the ROC curve, and the least F1: a little below what was measured.
LEAST = {
    "pang-lee-2004": (0.68, 0.62),
    "newssd-eng-train": (0.69, 0.63),
    "newssd-eng-val": (0.50, 0.50),  # a hundred sentences of few texts, with a standard error of .06
}


@only_long
@pytest.mark.endurance
@pytest.mark.parametrize("name", LEAST)
def test_subjective_sentences_are_told_from_others(name: str) -> None:
    path = FOLDER / f"{name}.tsv"
    if not path.is_file():
        pytest.skip(
            f"{name}.tsv is not there: it would be in shared/collections/subjectivity beside the project"
        )

    predictions = subjectivity.predict(path, Enricher(["features"]))
    area, _ = subjectivity.auc(predictions)
    least_area, least_f1 = LEAST[name]
    assert area >= least_area
    assert subjectivity.macro_f1(predictions) >= least_f1


@pytest.mark.slow
def test_opinions_score_higher_than_reports(tmp_path: Path) -> None:
    """The same, with a few sentences made by hand, so that it always runs."""
    from esr.text.document import Document, Sentence

    opinions = [
        "Perhaps this is the most absurd plan we have ever seen!",
        "I think she could hardly have done a better job, though.",
        "Why should anybody believe such a terrible lie?",
    ]
    reports = [
        "The company reported sales of 3.2 billion dollars in 2016.",
        "Police arrested two men in Paris on Monday.",
        "The court will hear the case on 7 February.",
    ]
    sentences = tuple(Sentence(str(n), text) for n, text in enumerate([*opinions, *reports]))
    features = [found.features for found in Enricher(["features"]).enrich(Document("d", sentences))]
    assert [known["subj"] for known in features] == [1, 1, 1, 0, 0, 0]
    assert min(f["subj_score"] for f in features[:3]) > 1 + max(f["subj_score"] for f in features[3:])
