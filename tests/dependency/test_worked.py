"""The worked examples of docs/formulas.md, E.7-E.9, E.11, from `tests/data/worked_dependence.json`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esr.dependency import mrf, tdsr
from esr.dependency.cliques import clique_evidence
from tests import worked
from tests.dependency import definition
from tests.dependency.making import forest, plain
from tests.dependency.single import TermCounts, single

RUNS = json.loads((Path(worked.__file__).parent / "data" / "worked_dependence.json").read_text("utf-8"))[
    "runs"
]
SENTENCES = [sentence for located in worked.documents() for sentence in located.document.sentences]
PARSES = [list(sentence.parse or ()) for sentence in SENTENCES]
TEXTS = [sentence.text.split() for sentence in SENTENCES]


def counted(query: list[str]) -> TermCounts:
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


def ranked(run: dict[str, Any], query: list[str]) -> list[float]:
    of = counted(query)
    if run["model"] == "tdsr":
        given = tdsr.settings(run["params"])
        evidence = clique_evidence(forest(PARSES), query, given["sets"])
        nearest = tdsr.nearest(evidence, of.counts)
        return tdsr.scores(nearest, given["alpha"], given["beta"], given["form"]).scores.tolist()
    given = mrf.settings(run["model"], run["params"])
    found = mrf.potentials(run["model"], clique_evidence(forest(PARSES), query), given)
    own = single(of, given["f_I"], given["mu"], given["lambda"])
    return mrf.scores(own, found, given).tolist()


def test_there_are_176_worked_scores() -> None:
    assert sum(len(scores) for run in RUNS for scores in run["scores"].values()) == 176
    assert Counter(run["model"] for run in RUNS) == {"tdsr": 4, "mrf_fidm": 2, "mrf_sdm": 2, "mrf_fdm": 3}


@pytest.mark.parametrize("query", ["Q1", "Q2"])
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run["name"])
def test_every_worked_score_is_met(run: dict[str, Any], query: str) -> None:
    expected = [run["scores"][query][sentence.id] for sentence in SENTENCES]
    assert ranked(run, worked.queries()[query].split()) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("query", ["Q1", "Q2"])
@pytest.mark.parametrize("run", RUNS, ids=lambda run: run["name"])
def test_the_definition_meets_every_worked_score(run: dict[str, Any], query: str) -> None:
    terms, expected = worked.queries()[query].split(), run["scores"][query]
    found = []
    own = [0.0] * len(SENTENCES)
    if run["model"] != "tdsr":
        own = single(counted(terms), run["params"]["f_I"], run["params"]["mu"], 0.5).tolist()
    for text, parse, first in zip(TEXTS, map(plain, PARSES), own, strict=True):
        p = dict(run["params"])
        if run["model"] == "tdsr":
            sets = p.get("sets", "subsets")
            found.append(
                definition.tdsr(terms, text, parse, p["alpha"], p["beta"], p.get("form", "exp"), sets)
            )
        else:
            of = mrf.settings(run["model"], p)
            syntactic, near = definition.dependence(terms, parse, run["model"], of)
            found.append(p["lambda_I"] * first + p["lambda_SR"] * syntactic + p["lambda_PR"] * near)
    assert found == pytest.approx([expected[sentence.id] for sentence in SENTENCES], abs=1e-9)
