"""The tone of sentences in languages without rules and lexica: by a classifier of their vectors.

Three logistic regressions on the vectors of a multilingual encoder say whether a sentence is subjective,
positive and negative. They were trained on English and Italian news alone: the encoder gives equal meanings
in other languages nearly equal vectors. tone.json has the weights, and where they come from;
`benchmarks/studies/tone.py` makes them and measures them in each language.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

TONE = "tone"
"""The name of the classifier among the tools of an enrichment."""
FILE = Path(__file__).with_suffix(".json")
"""The weights."""


class Tone(NamedTuple):
    """What a classifier says of a sentence.

    `subjectivity` is on the scale of `subj_score`: from 1.37 on, the sentence is subjective. The others are
    log odds, above 0 for a positive and a negative sentence.
    """

    subjectivity: float
    positive: float
    negative: float


def find_tones(vectors: Sequence[npt.NDArray[np.floating[Any]]]) -> list[Tone]:
    """The tones of sentences, given by their vectors of the encoder that `read_classifier` names."""
    if not vectors:
        return []
    data, matrix = read_classifier(), np.asarray(vectors)
    scores = [matrix @ np.array(data[name]["weights"]) + data[name]["bias"] for name in Tone._fields]
    return [Tone(*map(float, row)) for row in zip(*scores, strict=True)]


@cache
def read_classifier() -> dict[str, Any]:
    """The classifier: its version, its encoder, its languages, and weights and bias of each field of Tone."""
    data: dict[str, Any] = json.loads(FILE.read_text("utf-8"))
    return data
