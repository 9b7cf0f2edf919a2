"""Rankings against collections: every pair is a cell, computed once and kept in a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import esr
from esr import models
from esr.errors import InputError, UsageError, unknown
from esr.evaluation import measures, qrels, restrict, topics
from esr.evaluation.parameters import SOURCES
from esr.evaluation.topic import TITLE
from esr.evaluation.tuning.tasks import make
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import UnsearchableQuery

_BEGIN = '{"key": '


@dataclass(frozen=True)
class Collection:
    """An index with topics and judgements."""

    index: str
    topics: str
    qrels: str
    field: str = TITLE
    restrict: str | None = None


@dataclass(frozen=True)
class Comparison:
    """What is compared: collections and rankings by name, the measures, and how deep runs go.

    `parameters` names where the rankings' parameters come from (`esr.evaluation.parameters.SOURCES`).
    """

    collections: Mapping[str, Collection]
    rankings: Mapping[str, Ranking] = field(default_factory=lambda: every_model())
    measures: tuple[str, ...] = ("AP", "P@10", "RR")
    depth: int = 1000
    baseline: str | None = None
    parameters: tuple[str, ...] = ("default",)

    @staticmethod
    def from_file(path: Path) -> Comparison:
        """From JSON. Raises InputError naming the file."""
        try:
            return _comparison(json.loads(path.read_text("utf-8")))
        except OSError as error:
            raise InputError(str(path), f"cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise InputError(str(path), f"not JSON: {error}") from error
        except UsageError as error:
            raise InputError(str(path), str(error)) from error


@dataclass(frozen=True)
class Cell:
    """One ranking on one collection, with parameters of one source, and what it takes to compute it."""

    collection: str
    ranking: str
    parameters: str
    where: Collection
    settings: Ranking
    measures: tuple[str, ...]
    depth: int

    def key(self) -> str:
        """Everything that the figures depend on, but for the index: of the files, their digests."""
        files = [f for f in (self.where.topics, self.where.qrels, self.where.restrict) if f]
        digests = [hashlib.blake2b(Path(file).read_bytes(), digest_size=8).hexdigest() for file in files]
        parts = [self.where.__dict__, self.settings.as_dict(), self.measures, self.depth, digests]
        parts += [self.parameters] if self.parameters != "default" else []
        return json.dumps(parts, sort_keys=True)


def every_model() -> dict[str, Ranking]:
    """Every model in every context that it takes, with default parameters."""
    found = {}
    for name, model in models.MODELS.items():
        for context in model.contexts or (None,):
            found[f"{name} {context}" if context else name] = Ranking(name, context)
    return found


def cells(comparison: Comparison) -> list[Cell]:
    return [
        Cell(collection, ranking, source, where, settings, comparison.measures, comparison.depth)
        for collection, where in comparison.collections.items()
        for ranking, settings in comparison.rankings.items()
        for source in comparison.parameters
    ]


def done(path: Path) -> dict[str, dict[str, Any]]:
    """The cells of an earlier call, by key. A line that was cut off is passed over.

    Raises InputError for a file of something else: figures are never written into it.
    """
    found: dict[str, dict[str, Any]] = {}
    lines = path.read_text("utf-8", "replace").splitlines() if path.exists() else []
    for number, line in enumerate(lines, 1):
        if line and not line.startswith(_BEGIN[: len(line)]):
            raise InputError(f"{path}:{number}", "not the figures of a comparison: write to another file")
        with suppress(ValueError):
            cell = json.loads(line)
            found[cell["key"]] = cell
    return found


def compute(wanted: Mapping[str, Cell], path: Path, workers: int) -> Iterator[dict[str, Any]]:
    """Compute cells, given by key, write each to the file as soon as it is there, and yield it."""
    with path.open("a", encoding="utf-8") as file, _pool(workers) as pool:
        if file.tell():
            file.write("\n")  # ends a line that a killed call may have left
        waiting = [pool.submit(figures, cell, key) for key, cell in wanted.items()]
        try:
            for future in as_completed(waiting):
                cell = future.result()
                file.write(json.dumps(cell) + "\n")
                file.flush()
                yield cell
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def figures(cell: Cell, key: str) -> dict[str, Any]:
    """A cell with its values by measure and topic, under its key."""
    where = cell.where
    known = topics.read(where.topics)
    allowed = restrict.read(where.restrict) if where.restrict else None
    judged = qrels.read(where.qrels)
    asked = [topic for topic in known if topic.id in judged]
    with esr.open(where.index) as searcher:
        ready = make(asked, judged, field=where.field, restrictions=allowed)
        chosen = SOURCES[cell.parameters](searcher, cell.settings, ready.ready)
        run = {}
        for task, setting in zip(ready.ready, chosen.of_tasks, strict=True):
            try:
                answer = searcher.search(
                    task.query, cell.depth, ranking=setting, filters=task.filters, records=False
                )
            except UnsearchableQuery:  # stop words only: an empty answer
                continue
            if answer.incomplete:
                raise UsageError(f"{cell.collection}: an answer is incomplete: {answer.incomplete}")
            run[task.topic] = {hit.sentence_id: hit.score for hit in answer.hits}
    of_topics = {topic.id: judged[topic.id] for topic in asked}
    values = measures.evaluate(cell.measures, of_topics, run)
    return {
        "key": key,
        "collection": cell.collection,
        "ranking": cell.ranking,
        "parameters": cell.parameters,
        "settings": [setting.as_dict()["params"] for setting in chosen.settings],
        "topics": len(of_topics),
        "measures": {name: measures.mean(name, found.values()) for name, found in values.items()},
        "values": values,
    }


def _pool(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))


def _comparison(data: Any) -> Comparison:
    if not isinstance(data, dict) or not isinstance(data.get("collections"), dict):
        raise UsageError('wants an object with "collections", each with its index, topics and qrels')
    for key in data:
        if key not in Comparison.__dataclass_fields__:
            raise unknown("key of a comparison", key, Comparison.__dataclass_fields__)
    given = dict(data)
    given["collections"] = {name: _collection(name, c) for name, c in data["collections"].items()}
    if "rankings" in data:
        given["rankings"] = {name: Ranking.from_dict(r) for name, r in data["rankings"].items()}
    for name in {"measures", "parameters"} & data.keys():
        given[name] = tuple(data[name])
    comparison = Comparison(**given)
    for name in comparison.measures:
        measures.parse(name)
    for name in comparison.parameters:
        if name not in SOURCES:
            raise unknown("source of parameters", name, SOURCES)
    if comparison.baseline is not None and comparison.baseline not in comparison.rankings:
        raise unknown("baseline", comparison.baseline, comparison.rankings)
    return comparison


def _collection(name: str, data: Any) -> Collection:
    wanted = Collection.__dataclass_fields__
    for key in data:
        if key not in wanted:
            raise unknown(f"key of collection {name!r}", key, wanted)
    for key in ("index", "topics", "qrels"):
        if not isinstance(data.get(key), str):
            raise UsageError(f"collection {name!r} has no {key!r}")
    return Collection(**data)
