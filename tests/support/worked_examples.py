"""The worked examples: three documents, two queries and every score of them, from `tests/data/worked.json`.

They are those of docs/formulas.md, section E, where E.2 works one sentence by hand. Their names are those of
the file: tfmix is tfisf with a `mix` there.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from esr.text.document import Document, Located, ParseWord, Sentence

FILE = Path(__file__).resolve().parent.parent / "data" / "worked.json"
WITHOUT_CONTEXT = {"tfisf", "bm25", "jm", "dir", "kld"}
PRIORS = {"none": {}, "document": {"importance": 1.0}, "context": {"importance-surrounding": 1.0}}
LENGTH = {"none": {}, "linear": {"length": 1.0}}


class Run(NamedTuple):
    """A run's name, its ranking, and its scores by query and sentence."""

    name: str
    ranking: dict[str, Any]
    scores: dict[str, dict[str, float]]


@cache
def _data() -> Any:
    return json.loads(FILE.read_text("utf-8"))


def json_lines() -> str:
    """The documents as `esr load` reads them. A text is its terms: load it with the analyzer plain."""
    return "".join(json.dumps(document) + "\n" for document in map(_fields, _data()["documents"]))


def documents() -> list[Located]:
    """The documents, for loading with the analyzer plain."""
    return [
        Located(
            f"worked.json:{number}",
            Document(
                fields["id"],
                tuple(
                    Sentence(
                        sentence["id"],
                        sentence["text"],
                        {name: float(value) for name, value in sentence["features"].items()},
                        tuple(ParseWord(word["word"], word["head"]) for word in sentence["parse"]),
                    )
                    for sentence in fields["sentences"]
                ),
            ),
        )
        for number, fields in enumerate(map(_fields, _data()["documents"]), 1)
    ]


def queries() -> dict[str, str]:
    """Query texts by id."""
    return {query["id"]: " ".join(query["terms"]) for query in _data()["queries"]}


def runs() -> list[Run]:
    """Every run, ranking all sentences."""
    return [Run(run["name"], _ranking(run), run["scores"]) for run in _data()["runs"]]


def relevant() -> dict[str, list[str]]:
    """The relevant sentences of each query."""
    return dict(_data()["qrels"])


def adjusted() -> list[Run]:
    """The runs of query-independent evidence, whose adjustments are not trained."""
    return [
        Run(run["name"], _adjusted(run["params"]), run["scores"])
        for run in _data()["adjusted"]
        if run["model"] == "qie"
    ]


def dependence() -> list[Run]:
    """The runs of term dependence, ranking all sentences."""
    runs = json.loads((FILE.parent / "worked_dependence.json").read_text("utf-8"))["runs"]
    return [
        Run(run["name"], {"model": run["model"], "params": run["params"], "candidates": "all"}, run["scores"])
        for run in runs
    ]


def _adjusted(params: dict[str, Any]) -> dict[str, Any]:
    return {**params["base"], "features": params["features"], "candidates": "all"}


class Trained(NamedTuple):
    """A run with a trained curve: its ranking without the curve, the training, and its scores."""

    name: str
    ranking: dict[str, Any]
    form: str
    feature: str
    delta: float
    queries: list[str]
    scores: dict[str, dict[str, float]]


def trained() -> list[Trained]:
    """The runs of query-independent evidence with a curve trained from the judgements of `queries`."""
    return [
        Trained(
            run["name"],
            {**params["base"], "candidates": "all"},
            params.get("mode", "floe"),
            params["feature"],
            params["delta"],
            params["train_queries"],
            run["scores"],
        )
        for run in _data()["adjusted"]
        if run["model"] == "floe"
        for params in [run["params"]]
    ]


def _fields(document: dict[str, Any]) -> dict[str, Any]:
    sentences = [
        {
            "id": sentence["id"],
            "text": " ".join(sentence["tokens"]),
            "features": sentence["features"],
            "parse": sentence["parse"],
        }
        for sentence in document["sentences"]
    ]
    return {"id": document["id"], "sentences": sentences}


def _ranking(run: dict[str, Any]) -> dict[str, Any]:
    model, params = run["model"], dict(run["params"])
    if "mix" in params:
        model, params["alpha"] = "tfmix", params.pop("mix")
    return {
        "model": model,
        "params": params,
        "priors": PRIORS[run["importance"]] | LENGTH[run["length_prior"]],
        "candidates": "all",
    } | ({} if model in WITHOUT_CONTEXT else {"context": run["context"]})
