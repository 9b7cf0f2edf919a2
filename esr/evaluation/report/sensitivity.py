"""Sensitivity of a measure to each parameter of a model, with the others fixed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter
from msgspec.structs import replace

from esr import models
from esr.evaluation.report import style
from esr.evaluation.report.picture import Picture
from esr.evaluation.tuning.grid import is_valid
from esr.evaluation.tuning.tuner import Tuner
from esr.models import Parameter
from esr.plans.statistics import CollectionStatistics, Statistics
from esr.ranking.ranking import Ranking

_COLUMNS = 3
_MIN_SPAN = 0.02
_LOG_RATIO = 50
"""From this ratio of the largest to the smallest value, a parameter's axis is logarithmic."""


class Line(NamedTuple):
    """A parameter's values, ascending, their figures, and the ranking's own value."""

    parameter: str
    values: tuple[float, ...]
    figures: tuple[float, ...]
    own_value: float

    @property
    def own_figure(self) -> float:
        return self.figures[self.values.index(self.own_value)]


def compute_lines(tuner: Tuner, ranking: Ranking, tick: Callable[[int], None] = lambda n: None) -> list[Line]:
    """A line for every parameter with a grid that the ranking's context uses.

    The ranking's own value is tried too. Values that are incompatible with the other parameters are left
    out. Raises UsageError if the ranking's own parameters are incompatible.
    """
    ranking.plan({}, Statistics(CollectionStatistics(), {}))
    lines = []
    for parameter in varied_parameters(ranking):
        own_value = float(ranking.settings()[parameter.name])
        values = sorted({own_value, *(float(value) for value in parameter.grid)})
        settings = {v: replace(ranking, params={**ranking.params, parameter.name: v}) for v in values}
        valid = {value: setting for value, setting in settings.items() if is_valid(setting)}
        figures = tuner.compute_figures(list(valid.values()), tick).mean(axis=1)
        lines.append(Line(parameter.name, tuple(valid), tuple(map(float, figures)), own_value))
    return lines


def varied_parameters(ranking: Ranking) -> list[Parameter]:
    """The parameters with numbers to try."""
    context = ranking.settings().context
    return [
        parameter
        for parameter in models.get(ranking.model).parameters
        if parameter.grid and not parameter.choices and parameter.only_with in (None, context)
    ]


def build_picture(lines: Sequence[Line], ranking: Ranking, measure: str) -> Picture:
    context = ranking.settings().context
    name = ranking.model + (f", context {context}" if context else "")
    own_values = ", ".join(f"{line.parameter} = {line.own_value:g}" for line in lines)
    return Picture(
        "sensitivity",
        f"Sensitivity of {name}",
        f"{measure} along each parameter, with the others fixed at {own_values} (circled). A flat line means "
        "that tuning the parameter matters little.",
        draw(lines, measure),
        build_rows(lines, measure),
    )


def build_rows(lines: Sequence[Line], measure: str) -> Sequence[Sequence[str]]:
    return [
        ["parameter", "value", measure],
        *(
            [line.parameter, f"{value:g}" + (" (given)" if value == line.own_value else ""), f"{figure:.4f}"]
            for line in lines
            for value, figure in zip(line.values, line.figures, strict=True)
        ),
    ]


@style.with_style
def draw(lines: Sequence[Line], measure: str) -> Figure:
    columns = min(_COLUMNS, len(lines))
    rows = -(-len(lines) // columns)
    figure = style.create_figure(2.5 * rows + 0.2)
    panels: list[Axes] = list(figure.subplots(rows, columns, sharey=True, squeeze=False).flat)
    for axes, line in zip(panels, lines, strict=False):
        _draw_panel(axes, line)
    for position, axes in enumerate(panels):
        axes.set_visible(position < len(lines))
    figures = [figure for line in lines for figure in line.figures]
    low, high = min(figures), max(figures)
    margin = max(_MIN_SPAN, high - low) * 0.08  # so that noise does not look like an effect
    middle = (low + high) / 2
    half = max(_MIN_SPAN, high - low) / 2 + margin
    panels[0].set_ylim(middle - half, middle + half)
    figure.supylabel(measure, fontsize="medium")
    return figure


def _draw_panel(axes: Axes, line: Line) -> None:
    color = style.SERIES[0]
    axes.plot(line.values, line.figures, color=color, marker="o")
    axes.plot([line.own_value], [line.own_figure], "o", markersize=9, fillstyle="none", color=style.INK)
    if line.values[0] > 0 and line.values[-1] / line.values[0] >= _LOG_RATIO:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_title(line.parameter)
