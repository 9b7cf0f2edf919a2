"""Search grids of parameter values for the best setting of a ranking, and cross-validate the search.

A grid has the values to try for each parameter; parameters of features, signals and boosts are named
`part.parameter`, like `subj.w`. All combinations are tried, or one parameter after another (coordinate
ascent). In cross-validation every figure is for a topic that its setting was not trained on.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple, Protocol

import numpy as np
from msgspec.structs import replace

from esr import models
from esr.errors import UsageError, unknown
from esr.lab.curves import CurveTraining, train_curves
from esr.lab.tuner import Figures, Task, Tuner
from esr.models.static_scores import get_form
from esr.plans.plan import CollectionStatistics, Statistics
from esr.ranking import boosts
from esr.ranking.ranking import Ranking
from esr.registry import Parameter, Value
from esr.wording import count

Grid = Mapping[str, Sequence[Value]]


class TunablePart(NamedTuple):
    """A part of a ranking with its own parameters: a feature in a form, a signal or a boost.

    In a grid its parameters are named `name.parameter`, like `subj.w`. `values` has those that the ranking
    sets.
    """

    name: str
    parameters: Sequence[Parameter]
    values: Mapping[str, Value]


def tunable_parts(ranking: Ranking) -> list[TunablePart]:
    """The parts of a ranking that have parameters, except its model."""
    return [
        *(TunablePart(f.feature, get_form(f.form).parameters, f.params) for f in ranking.features),
        *(TunablePart(s.signal, s.parameters, s.params) for s in ranking.rerank),
        *(TunablePart(name, boosts.get(name).parameters, params) for name, params in ranking.boosts.items()),
    ]


def build_default_grid(ranking: Ranking) -> Grid:
    """The default grids of all parameters that the ranking leaves open, of its model and its other parts."""
    model = models.get(ranking.model)
    context = ranking.settings().context
    model_grid = {
        p.name: p.grid
        for p in model.parameters
        if p.grid and p.name not in ranking.params and p.only_with in (None, context)
    }
    return model_grid | {
        f"{part.name}.{p.name}": p.grid
        for part in tunable_parts(ranking)
        for p in part.parameters
        if p.grid and p.name not in part.values
    }


def set_parameters(ranking: Ranking, values: Mapping[str, Value]) -> Ranking:
    """The ranking with these parameters, of any part. Raises UsageError for an invalid one."""
    params, features, rerank = dict(ranking.params), list(ranking.features), list(ranking.rerank)
    boost_params = dict(ranking.boosts)
    for name, value in values.items():
        part, dot, param = name.partition(".")
        if not dot:
            params[name] = value
            continue
        if part in boost_params:
            boost_params[part] = {**boost_params[part], param: value}
            continue
        position = next((n for n, signal in enumerate(rerank) if signal.signal == part), None)
        if position is not None:
            signal = rerank[position]
            rerank[position] = replace(signal, params={**signal.params, param: value})
            continue
        position = _find_feature(ranking, part, param)
        new_params = {**features[position].params, param: value}
        features[position] = replace(features[position], params=new_params)
    return replace(
        ranking, params=params, features=tuple(features), rerank=tuple(rerank), boosts=boost_params
    )


def _find_feature(ranking: Ranking, feature: str, param: str) -> int:
    """The position of the feature, in the form that has the parameter, among those of the ranking."""
    positions = [n for n, f in enumerate(ranking.features) if f.feature == feature]
    if not positions:
        raise unknown("feature of the ranking", feature, [f.feature for f in ranking.features])
    with_param = [
        n for n in positions if param in {p.name for p in get_form(ranking.features[n].form).parameters}
    ]
    if len(with_param) > 1:
        raise UsageError(
            f"{feature}.{param} is ambiguous, two forms of {feature} have it: tune one form at a time"
        )
    return with_param[0] if with_param else positions[0]


def parameter_values(ranking: Ranking) -> dict[str, Value]:
    """The parameters that the ranking sets, under their names in grids."""
    of_parts = {
        f"{part.name}.{name}": value for part in tunable_parts(ranking) for name, value in part.values.items()
    }
    return {**ranking.params, **of_parts}


def parse_grid(texts: Sequence[str]) -> Grid:
    """Parse texts like `name=v1,v2,...`. Raises UsageError for malformed ones."""
    grid: dict[str, list[Value]] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not values.strip(","):
            raise UsageError(f"--grid needs NAME=VALUE,VALUE,..., not {text!r}")
        grid[name.strip()] = [_parse_value(value.strip()) for value in values.split(",") if value.strip()]
    return grid


def expand_grid(ranking: Ranking, grid: Grid) -> list[Ranking]:
    """All valid combinations of the grid.

    Combinations whose shares add up to more than 1 are left out, as in the papers. Raises UsageError if a
    single value is out of range, or if no combination is valid.
    """
    for name, values in grid.items():
        for value in values:
            set_parameters(ranking, {name: value})
    settings = list(_iterate_valid(ranking, grid))
    if not settings:
        raise UsageError(
            "the grid has no valid combination, shares always add up to more than 1: use smaller values"
        )
    return settings


def _iterate_valid(ranking: Ranking, grid: Grid) -> Iterator[Ranking]:
    for values in product(*grid.values()):
        setting = set_parameters(ranking, dict(zip(grid, values, strict=True)))
        if is_valid(setting):
            yield setting


def is_valid(ranking: Ranking) -> bool:
    """Whether the parameters are compatible with each other. Each of them must already be in range."""
    try:
        ranking.plan({}, Statistics(CollectionStatistics(), {}))
    except UsageError:
        return False
    return True


def _parse_value(text: str) -> Value:
    try:
        return float(text)
    except ValueError:
        return text


# Search


Tick = Callable[[int], None]


class TuningResult(NamedTuple):
    """The best setting, its figures of shape (topics,), and all tried settings with their mean figures."""

    ranking: Ranking
    figures: Figures
    tried: list[tuple[Ranking, float]]


def search_grid(tuner: Tuner, ranking: Ranking, grid: Grid, tick: Tick = lambda n: None) -> TuningResult:
    """The best of all combinations of the grid, the first of several equal ones."""
    settings = expand_grid(ranking, grid)
    return _select_best(settings, tuner.compute_figures(settings, tick))


def ascend(tuner: Tuner, ranking: Ranking, grid: Grid, tick: Tick = lambda n: None) -> TuningResult:
    """Coordinate ascent: improve one parameter at a time, until none improves the mean figure.

    No single step of the grid improves the result, but it is not always the global optimum.
    """
    current = ranking
    current_values = parameter_values(current)
    on_grid = all(current_values.get(name) in values for name, values in grid.items())
    if not is_valid(current) or not on_grid:
        current = _choose_start(ranking, grid)
    figures = tuner.compute_figures([current], tick)[0]
    tried = [(current, float(figures.mean()))]
    improved = True
    while improved:
        improved = False
        for name, values in grid.items():
            steps = [set_parameters(current, {name: value}) for value in values]
            valid = [step for step in steps if is_valid(step)]
            best = _select_best(valid, tuner.compute_figures(valid, tick))
            tried += best.tried
            if best.figures.mean() > figures.mean():
                current, figures, improved = best.ranking, best.figures, True
    return TuningResult(current, figures, tried)


def _choose_start(ranking: Ranking, grid: Grid) -> Ranking:
    """The ranking with the values of the grid that are nearest to the defaults."""
    defaults = dict(ranking.settings().values)
    for part in tunable_parts(ranking):
        defaults |= {f"{part.name}.{p.name}": part.values.get(p.name, p.default) for p in part.parameters}
    nearest = {name: _find_nearest(values, defaults[name]) for name, values in grid.items()}
    start = set_parameters(ranking, nearest)
    return start if is_valid(start) else expand_grid(ranking, grid)[0]


def _find_nearest(values: Sequence[Value], target: Value) -> Value:
    """The value nearest to a number. For names it is the target if available, else the first value."""
    numbers = [value for value in values if isinstance(value, float)]
    if isinstance(target, float) and numbers:
        return min(numbers, key=lambda value: abs(value - target))
    return target if target in values else values[0]


def _select_best(settings: Sequence[Ranking], figures: Figures) -> TuningResult:
    means = figures.mean(axis=1)
    best = int(np.argmax(means))
    return TuningResult(settings[best], figures[best], list(zip(settings, means.tolist(), strict=True)))


# Cross-validation


class HasTopic(Protocol):
    @property
    def topic(self) -> str: ...


def split_folds(
    tasks: Sequence[HasTopic], number: int, groups: Mapping[str, str], seed: int = 0
) -> list[list[int]]:
    """Split the tasks into `number` folds, as positions. Topics of a group are in the same fold.

    The split is the same for the same seed. Raises UsageError if there are fewer groups than folds.
    """
    by_group: dict[str, list[int]] = {}
    for position, task in enumerate(tasks):
        by_group.setdefault(groups.get(task.topic, task.topic), []).append(position)
    if not 2 <= number <= len(by_group):
        raise UsageError(
            f"the number of folds must be from 2 to {len(by_group)}, the number of topic groups, not {number}"
        )
    names = sorted(by_group)
    random.Random(seed).shuffle(names)
    folds: list[list[int]] = [[] for _ in range(number)]
    for name in names:
        min(folds, key=len).extend(by_group[name])
    return [sorted(fold) for fold in folds]


WAYS = {"grid": search_grid, "ascent": ascend}


class CrossValidation(NamedTuple):
    """The setting of each fold; for each topic, the setting trained without its fold, and the figure."""

    settings: list[Ranking]
    by_topic: list[Ranking]
    figures: Figures


def train(
    tuner: Tuner,
    ranking: Ranking,
    grid: Grid,
    way: str,
    tick: Tick = lambda n: None,
    curves: Sequence[CurveTraining] = (),
) -> TuningResult:
    """The best setting on all of the tuner's topics.

    Curves are then trained on the same topics, on top of it.
    """
    best = WAYS[way](tuner, ranking, grid, tick)
    if not curves:
        return best
    with_curves = train_curves(tuner.searcher, tuner.tasks, best.ranking, curves)
    return TuningResult(with_curves, tuner.compute_figures([with_curves], tick)[0], best.tried)


def cross_validate(
    tuner: Tuner,
    ranking: Ranking,
    grid: Grid,
    way: str,
    number: int,
    groups: Mapping[str, str],
    tick: Tick = lambda n: None,
    curves: Sequence[CurveTraining] = (),
) -> CrossValidation:
    """Train on all folds but one and test on that one, for each fold. Figures have the shape (topics,)."""
    figures = np.zeros(len(tuner.tasks))
    by_topic = [ranking] * len(tuner.tasks)
    settings = []
    for fold in split_folds(tuner.tasks, number, groups):
        others = sorted(set(range(len(tuner.tasks))) - set(fold))
        best = train(tuner.select_tasks(others), ranking, grid, way, tick, curves).ranking
        settings.append(best)
        figures[fold] = tuner.select_tasks(fold).compute_figures([best])[0]
        for position in fold:
            by_topic[position] = best
    return CrossValidation(settings, by_topic, figures)


def check_disjoint(training: Sequence[Task], test: Sequence[Task]) -> None:
    """Raise UsageError if a topic, or the query of one, is in both sets."""
    ids = {task.topic for task in training} & {task.topic for task in test}
    queries = {task.query.lower() for task in training} & {task.query.lower() for task in test}
    if ids or queries:
        examples = ", ".join(sorted(ids or queries)[:3])
        raise UsageError(
            f"{count(len(ids or queries), 'topic', 'are')} in both training and test ({examples}, …), so the "
            "test is not valid: use other topics or --folds, or allow it by --test-on-training"
        )
