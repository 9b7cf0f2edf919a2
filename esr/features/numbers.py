"""The number of figures in a sentence."""

from __future__ import annotations

import re

from esr.features.feature import Feature, FeatureInput, Values, register

# "1,200.50", "2017-02-07", "10:30", "3rd" and the 16 of "16-year-old" are one figure each. The figures of
# names are not: "F-16", "COVID-19", "G20".
_FIGURE = re.compile(r"(?<![^\W_])(?<![^\W\d_]-)\d+(?:[.,:/-]\d+)*")


def compute(inputs: FeatureInput) -> Values:
    return [float(len(_FIGURE.findall(sentence.text))) for sentence in inputs.document.sentences]


register(Feature("numbers", "number of figures: 1,200.50 is one, the 16 of F-16 is none", "esr", compute))
