"""The page of what was learned: its figures beside the first stage's, importance and ablation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from esr.evaluation.report.gains import gains
from esr.evaluation.report.gains import picture as gains_picture
from esr.evaluation.report.page import Report, html
from esr.evaluation.report.picture import Picture
from esr.evaluation.report.style import SERIES, figure, styled
from esr.learning.outcome import FIRST, Outcome

_MOST = 30
_MEANING = {
    "linear": "the size of a weight times the spread of its signal within a topic",
    "lambdamart": "the loss that the trees' splits at a signal take away",
}


def page(found: Outcome) -> str:
    """HTML that needs no other file."""
    pictures = [gains_picture(gains(found.results, found.measure), found.measure, FIRST)]
    pictures += [_importance(found)] if any(worth > 0 for _, worth in found.importance) else []
    pictures += [_ablation(found)] if found.ablated else []
    notes = [
        f"Learner {found.learner}, seed {found.seed}: {found.depth} candidates of each of {found.topics:,} "
        "topics.",
        f"Every figure is of topics left out of learning, in {found.folds} folds of {found.groups:,} groups. "
        "Topics with the same words or half of their relevant sentences in common are in one group.",
    ]
    return html(Report("Learning to rank", found.results, pictures, notes))


def _importance(found: Outcome) -> Picture:
    shown = [(name, worth) for name, worth in found.importance if worth > 0][:_MOST]
    rows = [("signal", "importance"), *((name, f"{worth:.4g}") for name, worth in shown)]
    text = f"What each signal is worth, learned on all topics: {_MEANING[found.learner]}."
    return _bars("importance", "Importance of the signals", text, shown, rows)


def _ablation(found: Outcome) -> Picture:
    shown = [(each.without, each.comparison.difference) for each in found.ablated]
    rows = [("without", found.measure, "lost", "95 % interval", "p, corrected")]
    rows += [
        (
            each.without,
            f"{each.figure:.4f}",
            f"{each.comparison.difference:+.4f}",
            f"{each.comparison.low:+.4f} to {each.comparison.high:+.4f}",
            f"{each.comparison.t_test_holm:.4f}",
        )
        for each in found.ablated
    ]
    text = f"{found.measure} that is lost when signals are left out and the rest is learned anew."
    return _bars("ablation", "What is lost without", text, shown, rows)


@styled
def _bars(
    name: str,
    title: str,
    text: str,
    shown: Sequence[tuple[str, float]],
    rows: Sequence[tuple[str, ...]],
) -> Picture:
    drawn = figure(0.8 + 0.22 * len(shown))
    axes = drawn.subplots()
    places = np.arange(len(shown))[::-1]
    axes.barh(places, [value for _, value in shown], color=SERIES[0], height=0.7)
    axes.set_yticks(places, [label for label, _ in shown])
    axes.grid(axis="y", visible=False)
    return Picture(name, title, text, drawn, rows)
