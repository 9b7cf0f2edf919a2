"""Pictures of parameters: sensitivity of a measure, curves, weights of unseen terms, and learned rankings.

Each picture has its data, the function that computes them, the drawing, and the rows of its table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter
from msgspec.structs import replace

from esr.lab import curves
from esr.lab.curves import Estimates, EstimationOptions, ValueCounts, estimate_indep_and_floe
from esr.lab.grid import check_compatible, is_valid
from esr.lab.learn import FIRST, Outcome
from esr.lab.report import page
from esr.lab.report.gains import build_gains, compute_gains
from esr.lab.report.page import ReportPage
from esr.lab.report.picture_style import (
    FAINT,
    INK,
    SERIES,
    create_figure,
    create_panels,
    get_style,
    label_ends,
    with_style,
)
from esr.lab.report.pictures import Picture
from esr.lab.results import difference_cells, format_p
from esr.lab.tuner import Task, Tuner
from esr.lab.unseen_terms import GAMMA, IN_COLLECTION, IN_DOCUMENT, LAMBDA, LENGTHS, MU, Weights
from esr.plugin import Parameter
from esr.plugin.provisional import Array, Ranking, Searcher, get_model

_COLUMNS = 3
_MIN_SPAN = 0.02
_LOG_RATIO = 50
"""The ratio of a parameter's largest to its smallest value from which its axis is logarithmic."""


class Line(NamedTuple):
    """A parameter's values in ascending order, their figures, and the ranking's own value."""

    parameter: str
    values: tuple[float, ...]
    figures: tuple[float, ...]
    own_value: float

    @property
    def own_figure(self) -> float:
        return self.figures[self.values.index(self.own_value)]


def compute_lines(tuner: Tuner, ranking: Ranking, tick: Callable[[int], None] = lambda n: None) -> list[Line]:
    """Vary each parameter with a grid that applies in the ranking's context; the others stay fixed.

    The ranking's own value is among the values. Values that are incompatible with the other parameters are
    left out. Raises UsageError if the ranking's own parameters are incompatible.
    """
    check_compatible(ranking)
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
    """The model's numeric parameters with a grid that apply in the ranking's context."""
    context = ranking.settings().context
    return [
        parameter
        for parameter in get_model(ranking.model).parameters
        if parameter.grid and not parameter.choices and parameter.only_with in (None, context)
    ]


def build_sensitivity(lines: Sequence[Line], ranking: Ranking, measure: str) -> Picture:
    context = ranking.settings().context
    name = ranking.model + (f", context {context}" if context else "")
    own_values = ", ".join(f"{line.parameter} = {line.own_value:g}" for line in lines)
    return Picture(
        "sensitivity",
        f"Sensitivity of {name}",
        f"{measure} along each parameter, with the others fixed at {own_values} (circled). A flat line means "
        "that tuning the parameter matters little.",
        draw_sensitivity(lines, measure),
        sensitivity_rows(lines, measure),
    )


def sensitivity_rows(lines: Sequence[Line], measure: str) -> Sequence[Sequence[str]]:
    return [
        ["parameter", "value", measure],
        *(
            [line.parameter, f"{value:g}" + (" (given)" if value == line.own_value else ""), f"{figure:.4f}"]
            for line in lines
            for value, figure in zip(line.values, line.figures, strict=True)
        ),
    ]


@with_style
def draw_sensitivity(lines: Sequence[Line], measure: str) -> Figure:
    figure, panels = create_panels(len(lines), _COLUMNS, lambda rows: 2.5 * rows + 0.2)
    for axes, line in zip(panels, lines, strict=True):
        _draw_panel(axes, line)
    figures = [figure for line in lines for figure in line.figures]
    low, high = min(figures), max(figures)
    margin = max(_MIN_SPAN, high - low) * 0.08  # noise should not look like an effect
    middle = (low + high) / 2
    half = max(_MIN_SPAN, high - low) / 2 + margin
    panels[0].set_ylim(middle - half, middle + half)
    figure.supylabel(measure, fontsize="medium")
    return figure


def _draw_panel(axes: Axes, line: Line) -> None:
    color = SERIES[0]
    axes.plot(line.values, line.figures, color=color, marker="o")
    axes.plot([line.own_value], [line.own_figure], "o", markersize=9, fillstyle="none", color=INK)
    if line.values[0] > 0 and line.values[-1] / line.values[0] >= _LOG_RATIO:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_title(line.parameter)


# Curves of features


_CURVES_HEIGHT = 3.0
_MAX_SHARE = 0.999
"""The share of the collection's sentences that is drawn: a long tail would compress everything else."""
_MAX_ROWS = 40
_MAX_MARKERS = 30
"""Lines with more points have no markers."""
_MAX_DISCRETE = 25
"""Features with more distinct values are smoothed by kernels, because single values would be noise."""


class Curves(NamedTuple):
    """Estimates over the ranking without a feature, and over the ranking itself if it has the feature.

    The former show what the feature could add, the latter what remains to be gained: p(I), p(I|R) and p(I|T),
    indep and FLOE, with T from the combined ranking (Fernández & Losada 2012, sections 5.1 and 5.2.2;
    docs/formulas.md, B.5-B.9).
    """

    feature: str
    forms: tuple[str, ...]
    before: Estimates
    after: Estimates | None
    bandwidth: float


def estimate_feature_curves(
    searcher: Searcher, tasks: Sequence[Task], ranking: Ranking, feature: str
) -> Curves:
    """Estimate the curves of a feature. Raises UsageError if the index does not have it."""
    forms = tuple(f.form for f in ranking.features if f.feature == feature)
    base = curves.count_feature_values(searcher, tasks, curves.remove_feature(ranking, feature), feature)
    bandwidth = choose_bandwidth(base) if len(base.values) > _MAX_DISCRETE else 0.0
    options = EstimationOptions(bandwidth=bandwidth)
    after = curves.estimate_over(searcher, tasks, ranking, feature, options) if forms else None
    return Curves(feature, forms, estimate_indep_and_floe(base, options), after, bandwidth)


def choose_bandwidth(counts: ValueCounts) -> float:
    """The bandwidth for the feature's values in R by Silverman's rule of thumb (1986, eq. 3.28)."""
    number = counts.relevant.sum()
    mean = np.average(counts.values, weights=counts.relevant)
    deviation = np.sqrt(np.average((counts.values - mean) ** 2, weights=counts.relevant))
    return float(1.06 * deviation * number**-0.2) or float(np.ptp(counts.values)) / _MAX_DISCRETE


def build_feature_curves(curves: Curves) -> Picture:
    name = curves.feature
    text = (
        f"Left: the probability of each value of {name} among all sentences, p(I), the relevant ones, "
        "p(I|R), and the top of the ranking, p(I|T). Right: what a value should add according to "
        "indep = log p(I|R)/p(I) and FLOE = log p(I|R)/p(I|T). Where FLOE is flat near 0, the ranking has "
        "nothing left to gain from the feature."
    )
    if curves.bandwidth:
        text += f" All are smoothed by Gaussian kernels with bandwidth {curves.bandwidth:.2g}."
    if curves.after is not None:
        text += f" Dashed: after {name} was added by {' and '.join(curves.forms)}."
    return Picture(
        f"feature-{name}", f"Feature {name}", text, draw_feature_curves(curves), feature_curve_rows(curves)
    )


def feature_curve_rows(curves: Curves) -> Sequence[Sequence[str]]:
    before, after = curves.before, curves.after
    heads = ["value", "p(I)", "p(I|R)", "p(I|T)", "indep", "FLOE"]
    columns = [before.values, before.everywhere, before.relevant, before.top, before.indep, before.floe]
    if after is not None:
        heads += ["p(I|T) after", "FLOE after"]
        columns += [np.interp(before.values, after.values, part) for part in (after.top, after.floe)]
    visible = np.flatnonzero(_find_visible(before))
    selected = visible[:: -(-len(visible) // _MAX_ROWS)]
    return [heads, *([f"{column[position]:.4g}" for column in columns] for position in selected)]


def _find_visible(estimates: Estimates) -> npt.NDArray[np.bool_]:
    """Which values are drawn: all except rare ones at the upper end."""
    cumulative = np.cumsum(estimates.everywhere) / estimates.everywhere.sum()
    return np.append(True, cumulative[:-1] < _MAX_SHARE)


@with_style
def draw_feature_curves(curves: Curves) -> Figure:
    figure = create_figure(_CURVES_HEIGHT)
    left, right = figure.subplots(1, 2)
    before, after = curves.before, curves.after
    visible = _find_visible(before)
    probabilities = (("p(I)", before.everywhere), ("p(I|R)", before.relevant), ("p(I|T)", before.top))
    for position, (name, values) in enumerate(probabilities):
        _draw_line(left, before.values[visible], values[visible], position, name)
    _draw_line(right, before.values[visible], before.indep[visible], 3, "indep")
    _draw_line(right, before.values[visible], before.floe[visible], 4, "FLOE")
    if after is not None:
        visible = _find_visible(after)
        _draw_line(left, after.values[visible], after.top[visible], 2, "p(I|T) after", is_dashed=True)
        _draw_line(right, after.values[visible], after.floe[visible], 4, "FLOE after", is_dashed=True)
    right.axhline(0, color=FAINT, linewidth=0.8)
    left.set(xlabel=curves.feature, ylabel="probability or density", ylim=(0, None))
    right.set(xlabel=curves.feature, ylabel="adds to the score")
    are_integers = bool((before.values == np.round(before.values)).all())
    for axes in (left, right):
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=are_integers))
        axes.legend(frameon=False, fontsize=8)
    return figure


def _draw_line(axes: Axes, x: Array, y: Array, position: int, name: str, *, is_dashed: bool = False) -> None:
    run_style = get_style(position)
    marker = run_style.marker if len(x) <= _MAX_MARKERS and not is_dashed else ""
    axes.plot(x, y, color=run_style.color, marker=marker, linestyle="--" if is_dashed else "-", label=name)


# Weights of unseen terms


_UNSEEN_HEIGHT = 3.9


def build_unseen_terms(weights: Weights) -> Picture:
    return Picture(
        "unseen-terms",
        "What an unseen query term weighs",
        "The score that a query term adds to a sentence that lacks it, by the sentence's length: each model "
        f"with λ = {LAMBDA:g}, μ = {MU:g} (3mm: γ = {GAMMA:g}) and the document as context, for a term with "
        f"p(t|d) = {IN_DOCUMENT:g} and p(t) = {IN_COLLECTION:g}. dir and 2s decrease, and so favour short "
        "sentences; jm and 3mm are constant; 2si increases, because λ p(t|d) > p(t): a long sentence relies "
        "on its document.",
        draw_unseen_terms(weights),
        unseen_term_rows(weights),
    )


def unseen_term_rows(weights: Weights) -> Sequence[Sequence[str]]:
    lengths = [1, *LENGTHS[9::10]]
    rows = [[str(length), *(f"{w[length - 1]:.2f}" for w in weights.values())] for length in lengths]
    return [["terms in the sentence", *weights], *rows]


@with_style
def draw_unseen_terms(weights: Weights) -> Figure:
    figure = create_figure(_UNSEEN_HEIGHT)
    axes = figure.add_subplot()
    for position, values in enumerate(weights.values()):
        run_style = get_style(position)
        axes.plot(
            LENGTHS,
            values,
            color=run_style.color,
            linestyle=run_style.dashes,
            marker=run_style.marker,
            markevery=(0, 7),
        )
    axes.set(xlabel="terms in the sentence", ylabel="log p(t|θ) of an unseen term", xlim=(0, LENGTHS[-1] + 1))
    axes.set_ylim(axes.get_ylim())
    label_ends(axes, LENGTHS[-1], [w[-1] for w in weights.values()], list(weights), _UNSEEN_HEIGHT - 0.7)
    return figure


_MAX_SIGNALS = 30
_IMPORTANCE = {
    "linear": "the size of its weight times its spread within a topic",
    "lambdamart": "the reduction of the loss by the trees' splits at it",
}


def render_report(outcome: Outcome) -> str:
    """The report as a self-contained HTML page."""
    run_gains = compute_gains(outcome.results, outcome.measure)
    pictures = [build_gains(run_gains, outcome.measure, FIRST)]
    pictures += [_draw_importance(outcome)] if any(value > 0 for _, value in outcome.importance) else []
    pictures += [_draw_ablations(outcome)] if outcome.ablations else []
    notes = [
        f"Learner {outcome.learner}, seed {outcome.seed}: {outcome.depth} candidates of each of "
        f"{outcome.topics:,} topics.",
        f"Every figure is for held-out topics, in {outcome.folds} folds of {outcome.groups:,} groups. "
        "Topics with the same words or half of their relevant sentences in common are in one group.",
    ]
    return page.render(ReportPage("Learning to rank", outcome.results, pictures, notes))


def _draw_importance(outcome: Outcome) -> Picture:
    bars = [(name, value) for name, value in outcome.importance if value > 0][:_MAX_SIGNALS]
    rows = [("signal", "importance"), *((name, f"{value:.4g}") for name, value in bars)]
    text = f"The importance of each signal, learned on all topics: {_IMPORTANCE[outcome.learner]}."
    return _draw_bars("importance", "Importance of the signals", text, bars, rows)


def _draw_ablations(outcome: Outcome) -> Picture:
    bars = [(ablation.without, ablation.comparison.difference) for ablation in outcome.ablations]
    rows = [("without", outcome.measure, "lost", "95 % interval", "effect", "p, corrected")]
    rows += [
        (
            a.without,
            f"{a.figure:.4f}",
            *difference_cells(a.comparison),
            format_p(a.comparison.t_test_holm),
        )
        for a in outcome.ablations
    ]
    text = f"The loss of {outcome.measure} when signals are left out and the others are learned again."
    return _draw_bars("ablation", "What is lost without", text, bars, rows)


@with_style
def _draw_bars(
    name: str,
    title: str,
    text: str,
    bars: Sequence[tuple[str, float]],
    rows: Sequence[tuple[str, ...]],
) -> Picture:
    figure = create_figure(0.8 + 0.22 * len(bars))
    axes = figure.subplots()
    positions = np.arange(len(bars))[::-1]
    axes.barh(positions, [value for _, value in bars], color=SERIES[0], height=0.7)
    axes.set_yticks(positions, [label for label, _ in bars])
    axes.grid(axis="y", visible=False)
    return Picture(name, title, text, figure, rows)
