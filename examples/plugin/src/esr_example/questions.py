"""The feature `questions`: the number of question marks of a sentence."""

from __future__ import annotations

from esr.plugin import Feature, FeatureInput, Values


def compute(inputs: FeatureInput) -> Values:
    return [float(sentence.text.count("?")) for sentence in inputs.document.sentences]


QUESTIONS = Feature("questions", "number of question marks", "the example", compute)
