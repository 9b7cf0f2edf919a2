"""The worked examples of docs/formulas.md, E.7-E.9, E.11, from `tests/data/worked_dependence.json`."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest

from esr.dependency import mrf, tdsr
from esr.dependency.cliques import clique_evidence
from esr.parameter import check_parameters
from tests.support import dependency_definition as definition
from tests.support import worked_examples as worked
from tests.support.parses import forest, plain
from tests.support.single_terms import TermCounts, single

RUNS = json.loads((worked.FILE.parent / "worked_dependence.json").read_text("utf-8"))["runs"]
SENTENCES = [sentence for located in worked.documents() for sentence in located.document.sentences]
PARSES = [list(sentence.parse or ()) for sentence in SENTENCES]
TEXTS = [sentence.text.split() for sentence in SENTENCES]


def term_counts(query: list[str]) -> TermCounts:
    terms = list(dict.fromkeys(query))
    counts = np.array([[text.count(term) for text in TEXTS] for term in terms], float)
    return TermCounts(
        counts=counts,
        lengths=np.array([len(text) for text in TEXTS], float),
        in_query=np.array([query.count(term) for term in terms], float),
        probabilities=counts.sum(axis=1) / sum(map(len, TEXTS)),
        sentence_frequencies=(counts > 0).sum(axis=1).astype(float),
        sentences=len(TEXTS),
    )


def scores_of(run: dict[str, Any], query: list[str]) -> list[float]:
    counts = term_counts(query)
    if run["model"] == "tdsr":
        parameters = check_parameters("tdsr", tdsr.PARAMETERS, run["params"])
        evidence = clique_evidence(forest(PARSES), query, parameters["sets"])
        nearest = tdsr.nearest_distances(evidence, counts.counts)
        return tdsr.score_best_sets(
            nearest, parameters["alpha"], parameters["beta"], parameters["form"]
        ).scores.tolist()
    parameters = mrf.settings(run["model"], run["params"])
    potentials = mrf.compute_potentials(run["model"], clique_evidence(forest(PARSES), query), parameters)
    own = single(counts, parameters["f_I"], parameters["mu"], parameters["lambda"])
    return mrf.score_sentences(own, potentials, parameters).tolist()


def test_there_are_176_worked_scores() -> None:
    assert sum(len(scores) for run in RUNS for scores in run["scores"].values()) == 176
    assert Counter(run["model"] for run in RUNS) == {"tdsr": 4, "mrf_fidm": 2, "mrf_sdm": 2, "mrf_fdm": 3}


@pytest.mark.parametrize("query", ["Q1", "Q2"])
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run["name"])
def test_every_worked_score_is_met(run: dict[str, Any], query: str) -> None:
    expected = [run["scores"][query][sentence.id] for sentence in SENTENCES]
    assert scores_of(run, worked.queries()[query].split()) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("query", ["Q1", "Q2"])
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run["name"])
def test_the_definition_meets_every_worked_score(run: dict[str, Any], query: str) -> None:
    terms, expected = worked.queries()[query].split(), run["scores"][query]
    scores = []
    own = [0.0] * len(SENTENCES)
    if run["model"] != "tdsr":
        own = single(term_counts(terms), run["params"]["f_I"], run["params"]["mu"], 0.5).tolist()
    for text, parse, first in zip(TEXTS, map(plain, PARSES), own, strict=True):
        p = dict(run["params"])
        if run["model"] == "tdsr":
            sets = p.get("sets", "subsets")
            scores.append(
                definition.tdsr(terms, text, parse, p["alpha"], p["beta"], p.get("form", "exp"), sets)
            )
        else:
            parameters = mrf.settings(run["model"], p)
            syntactic, near = definition.dependence(terms, parse, run["model"], parameters)
            scores.append(p["lambda_I"] * first + p["lambda_SR"] * syntactic + p["lambda_PR"] * near)
    assert scores == pytest.approx([expected[sentence.id] for sentence in SENTENCES], abs=1e-9)
