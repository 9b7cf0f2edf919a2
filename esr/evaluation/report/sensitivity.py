"""How a measure changes along each parameter of a model, the others kept at their given values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from esr import models
from esr.evaluation.report import style
from esr.evaluation.report.picture import Picture
from esr.evaluation.tuning.figures import Tuner
from esr.evaluation.tuning.grid import is_allowed
from esr.models import Parameter
from esr.plans.statistics import CollectionStatistics, Statistics
from esr.ranking.ranking import Ranking

_COLUMNS = 3
_LEAST_SPAN = 0.02
_WIDE = 50
"""From this ratio of the greatest to the least value on, a parameter's axis is logarithmic."""


class Line(NamedTuple):
    """A parameter's values, rising, the figure of each, and the value that the ranking has."""

    parameter: str
    values: tuple[float, ...]
    figures: tuple[float, ...]
    given: float

    @property
    def at_given(self) -> float:
        return self.figures[self.values.index(self.given)]


def lines(tuner: Tuner, ranking: Ranking, tick: Callable[[int], None] = lambda n: None) -> list[Line]:
    """A line for every parameter that has a grid and matters in the ranking's context.

    The given value is tried too. Values that do not go with the other parameters are left out. Raises
    UsageError if the given ones do not go together.
    """
    ranking.plan({}, Statistics(CollectionStatistics(), {}))
    found = []
    for parameter in varied(ranking):
        given = float(ranking.settings()[parameter.name])
        values = sorted({given, *(float(value) for value in parameter.grid)})
        tried = {v: replace(ranking, params={**ranking.params, parameter.name: v}) for v in values}
        allowed = {value: setting for value, setting in tried.items() if is_allowed(setting)}
        figures = tuner.table(list(allowed.values()), tick).mean(axis=1)
        found.append(Line(parameter.name, tuple(allowed), tuple(map(float, figures)), given))
    return found


def varied(ranking: Ranking) -> list[Parameter]:
    """The parameters that have numbers to try."""
    context = ranking.settings().context
    return [
        parameter
        for parameter in models.get(ranking.model).parameters
        if parameter.grid and not parameter.choices and parameter.only_with in (None, context)
    ]


def picture(found: Sequence[Line], ranking: Ranking, measure: str) -> Picture:
    context = ranking.settings().context
    called = ranking.model + (f", context {context}" if context else "")
    given = ", ".join(f"{line.parameter} = {line.given:g}" for line in found)
    return Picture(
        "sensitivity",
        f"Sensitivity of {called}",
        f"{measure} along each parameter, the others as given: {given} (ringed). A flat line means that "
        "tuning the parameter matters little.",
        draw(found, measure),
        rows(found, measure),
    )


def rows(found: Sequence[Line], measure: str) -> Sequence[Sequence[str]]:
    return [
        ["parameter", "value", measure],
        *(
            [line.parameter, f"{value:g}" + (" (given)" if value == line.given else ""), f"{figure:.4f}"]
            for line in found
            for value, figure in zip(line.values, line.figures, strict=True)
        ),
    ]


@style.styled
def draw(found: Sequence[Line], measure: str) -> Figure:
    columns = min(_COLUMNS, len(found))
    down = -(-len(found) // columns)
    figure = style.figure(2.5 * down + 0.2)
    panels: list[Axes] = list(figure.subplots(down, columns, sharey=True, squeeze=False).flat)
    for axes, line in zip(panels, found, strict=False):
        _panel(axes, line)
    for place, axes in enumerate(panels):
        axes.set_visible(place < len(found))
    every = [figure for line in found for figure in line.figures]
    low, high = min(every), max(every)
    room = max(_LEAST_SPAN, high - low) * 0.08  # noise is not to look like a mountain
    middle = (low + high) / 2
    half = max(_LEAST_SPAN, high - low) / 2 + room
    panels[0].set_ylim(middle - half, middle + half)
    figure.supylabel(measure, fontsize="medium")
    return figure


def _panel(axes: Axes, line: Line) -> None:
    color = style.SERIES[0]
    axes.plot(line.values, line.figures, color=color, marker="o")
    axes.plot([line.given], [line.at_given], "o", markersize=9, fillstyle="none", color=style.INK)
    if line.values[0] > 0 and line.values[-1] / line.values[0] >= _WIDE:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_title(line.parameter)
