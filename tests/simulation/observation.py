"""What esr says of an index, for comparison with the model."""

from __future__ import annotations

import math
import tempfile
import uuid
from collections.abc import Sequence
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from esr.errors import IndexMissing, IndexUnusable
from esr.folder.write.maintenance import verify
from esr.index.factory import is_elasticsearch, open_delivery, open_generations, open_index, open_writer
from esr.index.generations import BROKEN, KEPT, LOADING, SERVING
from esr.index.questions import EvidenceOf, Features
from esr.index.writer import LoadOptions
from esr.plans.plan import FEATURE_PREFIX
from esr.ranking.searcher import open_searcher
from esr.text.document import Document, Located
from tests.simulation.model import Documents, Generation, State
from tests.support.fake_enricher import FakeEnricher

PARTS = ("features",)
"""The parts that the simulation enriches: the cheapest one."""
NAMES = ("count", "share", "big")


class Observation(NamedTuple):
    """What is seen of an index: each generation's state and size, and the content of the serving one."""

    generations: tuple[tuple[str, int, bool], ...] = ()
    """State, number of documents, and whether it is rejected; newest first."""
    documents: Documents = ()
    features: tuple[tuple[str, str], ...] = ()
    """The features of each sentence."""
    withdrawn: tuple[str, ...] = ()


NOTHING = Observation()


def expect(state: State) -> Observation:
    """What esr should say of this state."""
    serving = state.serving
    if serving is None:
        return NOTHING
    return Observation(
        tuple(
            (SERVING if g is serving else KEPT, len(g.documents), g.is_rejected) for g in state.generations
        ),
        serving.documents,
        tuple(_expect_features(serving)),
        tuple(sorted(serving.withdrawn)),
    )


def _expect_features(generation: Generation) -> list[tuple[str, str]]:
    versions = dict(generation.enriched)
    return [
        (sentence.id, features)
        for document in generation.documents
        for sentence, features in zip(
            document.sentences, _features(document, versions.get(document.id, "")), strict=True
        )
    ]


_KNOWN: dict[tuple[object, str], list[str]] = {}


def _features(document: Document, version: str) -> list[str]:
    key = (document.id, tuple((s.id, s.text) for s in document.sentences)), version
    if key not in _KNOWN:
        enricher = FakeEnricher(PARTS, version=version)
        _KNOWN[key] = [
            _show(dict(sentence.features) if version else {}) for sentence in enricher.enrich(document)
        ]
    return _KNOWN[key]


def _show(features: dict[str, float]) -> str:
    return " ".join(f"{name}={features[name]:.9g}" for name in NAMES if name in features)


def observe(where: str, *, thorough: bool = True) -> Observation:
    """What esr says of an index. With `thorough`, all of its files are verified too. Raises EsrError."""
    try:
        with closing(open_generations(where)) as opened:
            generations = opened.all()
        if not any(generation.state == SERVING for generation in generations):
            raise IndexMissing(where)
        with closing(open_index(where)) as index:
            documents = tuple(index.documents())
            ids = [sentence.id for document in documents for sentence in document.sentences]
            names = [FEATURE_PREFIX + name for name in NAMES if name in index.status(Features())]
            columns = index.read(ids, EvidenceOf([], names)).columns if names and ids else {}
    except IndexMissing:
        return NOTHING
    except IndexUnusable as error:
        if "was never finished: run esr backup again" in str(error):
            return NOTHING
        raise
    if thorough and not is_elasticsearch(where):
        damaged = verify(Path(where), fast=False).damaged
        assert not damaged, f"files are damaged: {damaged}"
    broken = [generation for generation in generations if generation.state == BROKEN and generation.missing]
    assert not broken, f"parts are missing: {broken}"
    values = [
        {name: float(columns[FEATURE_PREFIX + name][n]) for name in NAMES if FEATURE_PREFIX + name in columns}
        for n in range(len(ids))
    ]
    present = [{name: value for name, value in row.items() if not math.isnan(value)} for row in values]
    return Observation(
        tuple(
            (generation.state, generation.documents or 0, generation.is_rejected)
            for generation in generations
            if generation.state not in (BROKEN, LOADING)
        ),
        documents,
        tuple(zip(ids, map(_show, present), strict=True)),
        tuple(sorted(open_delivery(where, LoadOptions()).withdrawn().ids)),
    )


# Searches

QUERIES = ("flood relief", "storm", '"river bank"', "vote OR court")
Answers = tuple[tuple[tuple[str, float], ...], ...]


def search(where: str) -> Answers:
    """The ids and scores of the best sentences for each query."""
    with open_searcher(where) as searcher:
        return tuple(
            tuple((hit.sentence_id, hit.score) for hit in searcher.search(query, 50).hits)
            for query in QUERIES
        )


def is_same(answers: Answers, others: Answers) -> bool:
    """Whether answers have the same sentences in order. Elasticsearch sums scores in another order."""
    if [[id for id, _ in hits] for hits in answers] != [[id for id, _ in hits] for hits in others]:
        return False
    pairs = zip(chain.from_iterable(answers), chain.from_iterable(others), strict=True)
    return all(math.isclose(one, other, abs_tol=1e-6) for (_, one), (_, other) in pairs)


_ANSWERS: dict[str, Answers] = {}
_UUID4 = uuid.uuid4


def expect_answers(documents: Sequence[Document]) -> Answers:
    """What an index says that these documents were just loaded into."""
    key = repr(documents)
    if key not in _ANSWERS:
        if len(_ANSWERS) > 5000:
            _ANSWERS.clear()
        # What is simulated outside must not depend on whether these answers are known already.
        with tempfile.TemporaryDirectory() as folder, mock.patch("uuid.uuid4", _UUID4):
            writer = open_writer(f"{folder}/index", LoadOptions("fail", "plain"))
            writer.load([Located(document.id, document) for document in documents])
            _ANSWERS[key] = search(f"{folder}/index")
    return _ANSWERS[key]
