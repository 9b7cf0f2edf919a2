"""The report of a learned ranking: figures beside those of the first stage, importance and ablation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from esr.lab.learn import FIRST, Outcome
from esr.lab.report import page
from esr.lab.report.page import SERIES, Picture, ReportPage, create_figure, with_style
from esr.lab.report.rankings import build_gains, compute_gains
from esr.lab.results import format_p

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
            f"{a.comparison.difference:+.4f}",
            f"{a.comparison.low:+.4f} to {a.comparison.high:+.4f}",
            f"{a.comparison.effect:+.2f}",
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
