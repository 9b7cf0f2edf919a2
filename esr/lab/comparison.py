"""Compare rankings on collections.

A cell is a combination of a collection, a ranking and a source of parameters. It is computed once, and stored
as one line of a JSON Lines file. Parameters are those that the ranking sets (`default`), tuned on the
judgements by cross-validation (`tuned`), or estimated on pseudo-topics without judgements (`estimated`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from esr.lab import measures
from esr.lab.cross_validation import cross_validate, train
from esr.lab.estimation import DEFAULT_NUMBER, generate_tasks
from esr.lab.grid import Grid, build_default_grid
from esr.lab.judgements import read_qrels
from esr.lab.tuner import Task, Tuner, build_tasks
from esr.plugin import InputError, UsageError
from esr.plugin.provisional import (
    MODELS,
    SHIPPED,
    TITLE,
    Ranking,
    Searcher,
    UnsearchableQuery,
    defer_interrupt,
    end_with_parent,
    is_dataset,
    open_pools,
    open_searcher,
    read_json,
    read_restrictions,
    read_topics,
    unknown,
)

FOLDS = 5
_MAX_GRID = 120
"""The largest grid that is searched completely; larger ones use coordinate ascent."""


class ParameterChoice(NamedTuple):
    """The ranking for each task, and the distinct rankings among them."""

    by_task: list[Ranking]
    settings: list[Ranking]


def use_default(searcher: Searcher, ranking: Ranking, tasks: Sequence[Task]) -> ParameterChoice:
    """The ranking with the parameters that it sets."""
    return ParameterChoice([ranking] * len(tasks), [ranking])


def tune(searcher: Searcher, ranking: Ranking, tasks: Sequence[Task]) -> ParameterChoice:
    """For each task, the parameters with the best AP on the tasks of the other folds.

    Fewer tasks than FOLDS are folds of one each.
    """
    grid = build_default_grid(ranking)
    if not grid:
        return use_default(searcher, ranking, tasks)
    folds = min(FOLDS, len(tasks))
    validation = cross_validate(Tuner(searcher, tasks), ranking, grid, _choose_way(grid), folds, {})
    return ParameterChoice(validation.by_topic, validation.settings)


def estimate(searcher: Searcher, ranking: Ranking, tasks: Sequence[Task]) -> ParameterChoice:
    """The best parameters on pseudo-topics. The tasks themselves are not used."""
    grid = build_default_grid(ranking)
    if not grid:
        return use_default(searcher, ranking, tasks)
    pseudo_tasks = generate_tasks(searcher.index, DEFAULT_NUMBER)
    best = train(Tuner(searcher, pseudo_tasks), ranking, grid, _choose_way(grid)).ranking
    return use_default(searcher, best, tasks)


def _choose_way(grid: Grid) -> str:
    return "grid" if prod(map(len, grid.values())) <= _MAX_GRID else "ascent"


SOURCES: dict[str, Callable[[Searcher, Ranking, Sequence[Task]], ParameterChoice]] = {
    "default": use_default,
    "tuned": tune,
    "estimated": estimate,
}


# Plans, cells and their results


_LINE_START = '{"key": '


@dataclass(frozen=True)
class Collection:
    """An index with topics and judgements."""

    index: str
    topics: str
    qrels: str
    field: str = TITLE
    restrict: str | None = None


@dataclass(frozen=True)
class ComparisonPlan:
    """Collections and rankings by name, the measures, and the depth of runs.

    `parameters` are keys of `SOURCES`; `baseline` is a key of `rankings`.
    """

    collections: Mapping[str, Collection]
    rankings: Mapping[str, Ranking] = field(default_factory=lambda: build_default_rankings())
    measures: tuple[str, ...] = ("AP", "P@10", "RR")
    depth: int = 1000
    baseline: str | None = None
    parameters: tuple[str, ...] = ("default",)

    @staticmethod
    def from_file(path: Path) -> ComparisonPlan:
        """Read a plan from JSON. Raises InputError with the file's name."""
        try:
            return _parse_plan(read_json(path))
        except UsageError as error:
            raise InputError(str(path), str(error)) from error


@dataclass(frozen=True)
class Cell:
    """One ranking on one collection with parameters from one source, and the inputs to compute it."""

    collection: str
    ranking: str
    parameters: str
    inputs: Collection
    settings: Ranking
    measures: tuple[str, ...]
    depth: int

    def key(self) -> str:
        """A key of the result: all inputs except the contents of the index. Files are included as digests."""
        inputs = (self.inputs.topics, self.inputs.qrels, self.inputs.restrict)
        files = [file for file in inputs if file and not is_dataset(file)]
        digests = [hashlib.blake2b(Path(file).read_bytes(), digest_size=8).hexdigest() for file in files]
        parts = [self.inputs.__dict__, self.settings.as_dict(), self.measures, self.depth, digests]
        parts += [self.parameters] if self.parameters != "default" else []
        return json.dumps(parts, sort_keys=True)


def build_default_rankings() -> dict[str, Ranking]:
    """Every model in each of its contexts, with default parameters."""
    return {
        f"{name} {context}" if context else name: Ranking(name, context)
        for name, model in MODELS.items()
        for context in model.contexts or (None,)
    }


def build_cells(plan: ComparisonPlan) -> list[Cell]:
    """All cells of a plan: collections × rankings × sources of parameters."""
    return [
        Cell(collection, ranking, source, inputs, settings, plan.measures, plan.depth)
        for collection, inputs in plan.collections.items()
        for ranking, settings in plan.rankings.items()
        for source in plan.parameters
    ]


def find_unanswerable(cells: Iterable[Cell]) -> dict[str, str]:
    """The rankings whose features or signals an index lacks, each with the reason."""
    reasons: dict[str, str] = {}
    by_index: dict[str, list[Cell]] = {}
    for cell in cells:
        by_index.setdefault(cell.inputs.index, []).append(cell)
    for where, of_index in by_index.items():
        with open_searcher(where) as searcher:
            for cell in of_index:
                try:
                    searcher.check_features(cell.settings.feature_names())
                    searcher.check_signals(cell.settings)
                except UsageError as error:
                    reasons.setdefault(cell.ranking, str(error))
    return reasons


def read_results(path: Path) -> dict[str, dict[str, Any]]:
    """The stored cells by key. An incomplete line is ignored.

    Raises InputError for a file with other contents, so that results are never appended to it.
    """
    results: dict[str, dict[str, Any]] = {}
    lines = path.read_text("utf-8", "replace").splitlines() if path.exists() else []
    for number, line in enumerate(lines, 1):
        if line and not line.startswith(_LINE_START[: len(line)]):
            raise InputError(f"{path}:{number}", "not a result of a comparison: write to another file")
        with suppress(ValueError):
            result = json.loads(line)
            results[result["key"]] = result
    return results


def compute_cells(cells: Mapping[str, Cell], path: Path, workers: int) -> Iterator[dict[str, Any]]:
    """Compute cells by key in worker processes. Each result is appended to the file, then yielded.

    Raises EsrError if a worker dies. An error or an interrupt terminates the workers.
    """
    with path.open("a", encoding="utf-8") as file, open_pools(1, workers, end_with_parent) as (pool,):
        if file.tell():
            file.write("\n")  # terminates the incomplete line of a killed call
        with defer_interrupt():
            pending = [pool.submit(compute_cell, cell, key) for key, cell in cells.items()]
        for future in as_completed(pending):
            result = future.result()
            file.write(json.dumps(result) + "\n")
            file.flush()
            yield result


def compute_cell(cell: Cell, key: str) -> dict[str, Any]:
    """The result of a cell, for JSON: its key, its settings, and values by measure and topic."""
    inputs = cell.inputs
    allowed = read_restrictions(inputs.restrict) if inputs.restrict else None
    judgements = read_qrels(inputs.qrels)
    judged_topics = [topic for topic in read_topics(inputs.topics) if topic.id in judgements]
    with open_searcher(inputs.index) as searcher:
        tasks = build_tasks(judged_topics, judgements, field=inputs.field, restrict=allowed).ready
        choice = SOURCES[cell.parameters](searcher, cell.settings, tasks)
        run = {}
        for task, setting in zip(tasks, choice.by_task, strict=True):
            try:
                answer = searcher.search(
                    task.query, cell.depth, ranking=setting, filters=task.filters, records=False, literal=True
                )
            except UnsearchableQuery:  # only stop words: an empty answer
                continue
            if answer.incomplete:
                raise UsageError(f"{cell.collection}: an answer is incomplete: {answer.incomplete}")
            run[task.topic] = {hit.sentence_id: hit.score for hit in answer.hits}
    judgements = {topic.id: judgements[topic.id] for topic in judged_topics}
    values = measures.evaluate(cell.measures, judgements, run)
    return {
        "key": key,
        "collection": cell.collection,
        "ranking": cell.ranking,
        "parameters": cell.parameters,
        "settings": [setting.as_dict()["params"] for setting in choice.settings],
        "topics": len(judgements),
        "measures": {name: measures.mean(name, by_topic.values()) for name, by_topic in values.items()},
        "values": values,
    }


def _parse_plan(data: Any) -> ComparisonPlan:
    if not isinstance(data, dict) or not isinstance(data.get("collections"), dict):
        raise UsageError('must be an object with "collections", each with its index, topics and qrels')
    for key in data:
        if key not in ComparisonPlan.__dataclass_fields__:
            raise unknown("key of a comparison", key, ComparisonPlan.__dataclass_fields__)
    for key, (form, fits) in _FORMS.items():
        if key in data and not fits(data[key]):
            raise UsageError(f"{key!r} must be {form}, not {data[key]!r}")
    fields = dict(data)
    fields["collections"] = {name: _parse_collection(name, c) for name, c in data["collections"].items()}
    if "rankings" in data:
        fields["rankings"] = {name: _read_ranking(r) for name, r in data["rankings"].items()}
    for name in {"measures", "parameters"} & data.keys():
        fields[name] = tuple(data[name])
    plan = ComparisonPlan(**fields)
    for name in plan.measures:
        measures.parse(name)
    for name in plan.parameters:
        if name not in SOURCES:
            raise unknown("source of parameters", name, SOURCES)
    if plan.baseline is not None and plan.baseline not in plan.rankings:
        raise unknown("baseline", plan.baseline, plan.rankings)
    return plan


def _read_ranking(data: Any) -> Ranking:
    """A ranking from JSON, or a shipped ranking by its name."""
    return Ranking.from_file(data) if isinstance(data, str) and data in SHIPPED else Ranking.from_dict(data)


def _are_strings(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


_FORMS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "rankings": ("an object, each ranking under its name", lambda value: isinstance(value, dict)),
    "measures": ("a list of strings", _are_strings),
    "depth": ("a whole number from 1 on", lambda value: type(value) is int and value >= 1),
    "baseline": ("the name of a ranking", lambda value: value is None or isinstance(value, str)),
    "parameters": ("a list of strings", _are_strings),
}
"""For each optional key of a plan, a description of its valid values and the check."""


def _parse_collection(name: str, data: Any) -> Collection:
    if not isinstance(data, dict):
        raise UsageError(f"collection {name!r} must be an object, not {data!r}")
    fields = Collection.__dataclass_fields__
    for key, value in data.items():
        if key not in fields:
            raise unknown(f"key of collection {name!r}", key, fields)
        if not isinstance(value, str) and not (key == "restrict" and value is None):
            raise UsageError(f"{key!r} of collection {name!r} must be a string, not {value!r}")
    for key in ("index", "topics", "qrels"):
        if key not in data:
            raise UsageError(f"collection {name!r} needs the key {key!r}, a string")
    return Collection(**data)
