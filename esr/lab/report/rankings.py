"""Pictures of runs: gains of each topic against the baseline, lengths of top sentences, precision and recall.

Each picture has its data, the function that computes them, the drawing, and the rows of its table. A last
section lists the topics with the largest gains and losses, each with the sentences that moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from esr.lab.measures import Evaluator, Qrels, mean, unknown_sentences
from esr.lab.report.page import (
    FAINT,
    INK,
    PAPER,
    SERIES,
    Picture,
    create_figure,
    create_panels,
    format_figure,
    format_signed,
    label_ends,
    shorten,
    style_of,
    with_style,
)
from esr.lab.results import ALL, RunEvaluation
from esr.plugin import UsageError
from esr.plugin.provisional import Array, EvidenceOf, Records, Scores, sort_sentences
from esr.plugin.provisional import EngineIndex as Index

_MAX_BARS = 25
_MAX_LABEL_LENGTH = 8
_MAX_EXAMPLES = 5
_RESOLUTION = 0.002
_COLUMNS = 2


class Gains(NamedTuple):
    """A run's differences from the baseline by topic, in descending order. Ties are sorted by topic."""

    run: str
    topics: tuple[str, ...]
    values: tuple[float, ...]

    @property
    def counts(self) -> tuple[int, int, int]:
        """The numbers of topics won, tied and lost."""
        won, lost = sum(v > 0 for v in self.values), sum(v < 0 for v in self.values)
        return won, len(self.values) - won - lost, lost


def compute_gains(results: Sequence[RunEvaluation], measure: str) -> list[Gains]:
    """The gains of every other run over the baseline, which must be among the results.

    Topics without a value for either run are left out.
    """
    baseline = next(result for result in results if result.is_baseline)
    theirs = baseline.values[measure]
    gains = []
    for result in results:
        if not result.is_baseline:
            ours = result.values[measure]
            differences = {
                t: ours[t] - theirs[t] for t in result.groups[ALL].topics if t in ours and t in theirs
            }
            order = sorted(differences, key=lambda topic: (-differences[topic], topic))
            gains.append(Gains(result.name, tuple(order), tuple(differences[topic] for topic in order)))
    return gains


def build_gains(gains: Sequence[Gains], measure: str, baseline: str) -> Picture:
    return Picture(
        "gains",
        f"{measure} of every topic against {baseline}",
        f"Each bar is a topic: its {measure} minus that of {baseline}, in descending order. A mean may "
        "come from many small gains or from a few large ones.",
        draw_gains(gains, measure),
        gain_rows(gains),
    )


def gain_rows(gains: Sequence[Gains]) -> Sequence[Sequence[str]]:
    """The counts of each run, and the topics with the largest gains and losses."""
    heads = ["run", "won", "tied", "lost", "gains most", "loses most"]
    return [heads, *([g.run, *map(str, g.counts), *_format_ends(g)] for g in gains)]


def _format_ends(gains: Gains) -> tuple[str, str]:
    pairs = list(zip(gains.topics, gains.values, strict=True))
    best = [f"{topic} {value:+.2f}" for topic, value in pairs[:_MAX_EXAMPLES] if value > 0]
    worst = [f"{topic} {value:+.2f}" for topic, value in pairs[: -_MAX_EXAMPLES - 1 : -1] if value < 0]
    return ", ".join(best), ", ".join(worst)


@with_style
def draw_gains(gains: Sequence[Gains], measure: str) -> Figure:
    figure, panels = create_panels(len(gains), _COLUMNS, lambda rows: max(2.6, 2.0 * rows + 0.3))
    for axes, run_gains in zip(panels, gains, strict=True):
        _draw_panel(axes, run_gains)
    figure.supylabel(f"difference in {measure}", fontsize="medium")
    return figure


def merge_steps(values: Array) -> tuple[Array, Array]:
    """Descending values as steps and their edges. Visually equal neighbours are one step."""
    rounded = np.round(values / _RESOLUTION)
    starts = np.flatnonzero(np.diff(rounded, prepend=np.inf))
    return rounded[starts] * _RESOLUTION, np.append(starts, len(values)) - 0.5


def _draw_panel(axes: Axes, gains: Gains) -> None:
    number = len(gains.values)
    values = np.array(gains.values)
    axes.set_xticks([])
    gain, loss = SERIES[:2]
    if number <= _MAX_BARS:
        axes.bar(range(number), values, color=[gain if v > 0 else loss for v in values], width=0.8)
        if all(len(topic) <= _MAX_LABEL_LENGTH for topic in gains.topics):
            axes.set_xticks(range(number), gains.topics, rotation=90, fontsize=7)
    else:
        steps, edges = merge_steps(values)
        axes.stairs(np.maximum(steps, 0), edges, fill=True, color=gain)
        axes.stairs(np.minimum(steps, 0), edges, fill=True, color=loss)
    axes.axhline(0, color=FAINT, linewidth=0.8)
    axes.grid(False, axis="x")
    axes.set_xlim(-0.8, number - 0.2)
    won, tied, lost = gains.counts
    mean = float(values.mean()) if number else 0.0
    axes.set_title(shorten(gains.run))
    axes.set_xlabel(f"mean {mean:+.4f}; {won} won, {tied} tied, {lost} lost", loc="right", fontsize=8)


# Lengths of top-ranked sentences


TOP = 100
_BATCH = 500


class Lengths(NamedTuple):
    """Mean lengths in terms of each run's top sentences, of all sentences, and of any relevant ones."""

    runs: Mapping[str, float]
    collection: float
    relevant: float | None


def measure_lengths(index: Index, qrels: Qrels, runs: Mapping[str, Scores], top: int = TOP) -> Lengths:
    """The mean length of the `top` best sentences over all judged topics, without stop words.

    A relevant sentence counts once for each of its topics. Relevant sentences that are not in the index are
    ignored. Raises UsageError if a run has such a sentence.
    """
    missing = set(unknown_sentences(qrels, index))
    relevant = [
        s for grades in qrels.values() for s, grade in grades.items() if grade > 0 and s not in missing
    ]
    best = {run: list(_iterate_top(scores, qrels, top)) for run, scores in runs.items()}
    lengths = dict(_read_lengths(index, relevant))
    for run, ids in best.items():
        try:
            lengths.update(_read_lengths(index, [id for id in ids if id not in lengths]))
        except UsageError as error:
            raise UsageError(f"run {run} has sentences that the index lacks: {error}") from error
    return Lengths(
        {run: _mean(lengths[id] for id in ids) for run, ids in best.items()},
        index.statistics([]).collection.average_sentence,
        _mean(lengths[id] for id in relevant) if relevant else None,
    )


def _iterate_top(scores: Scores, qrels: Qrels, top: int) -> Iterator[str]:
    for topic, answers in scores.items():
        if topic in qrels:
            yield from sort_sentences(answers)[:top]


def _read_lengths(index: Index, ids: Iterable[str]) -> Iterator[tuple[str, float]]:
    distinct = list(dict.fromkeys(ids))
    for start in range(0, len(distinct), _BATCH):
        batch = distinct[start : start + _BATCH]
        yield from zip(batch, map(float, index.read(batch, EvidenceOf([])).lengths["sentence"]), strict=True)


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 0.0


def build_lengths(lengths: Lengths) -> Picture:
    return Picture(
        "lengths",
        f"Length of the top {TOP}",
        f"Mean number of terms, without stop words, of the best {TOP} sentences of each topic. The lines "
        "show the mean of all sentences of the index, and of those judged relevant.",
        draw_lengths(lengths),
        length_rows(lengths),
    )


def length_rows(lengths: Lengths) -> list[list[str]]:
    rows = [["", "terms"], *([run, f"{length:.2f}"] for run, length in lengths.runs.items())]
    return rows + [[name, f"{length:.2f}"] for name, length in _references(lengths).items()]


def _references(lengths: Lengths) -> dict[str, float]:
    references = {"all sentences": lengths.collection}
    if lengths.relevant is not None:
        references["relevant sentences"] = lengths.relevant
    return references


@with_style
def draw_lengths(lengths: Lengths) -> Figure:
    figure = create_figure(max(1.8, 0.32 * len(lengths.runs) + 1.1))
    axes = figure.add_subplot()
    positions = range(len(lengths.runs))
    colors = [style_of(position).color for position in positions]
    axes.barh(positions, list(lengths.runs.values()), height=0.62, color=colors)
    axes.set_yticks(positions, [shorten(run) for run in lengths.runs])
    for position, length in enumerate(lengths.runs.values()):
        axes.annotate(
            f"{length:.1f}",
            (0, position),
            (5, 0),
            textcoords="offset points",
            va="center",
            color=PAPER,
        )
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)
    references = _references(lengths)
    axes.set_xlim(0, max(1.0, *lengths.runs.values(), *references.values()) * 1.12)
    longest = max(references.values())
    for (name, length), dashes in zip(references.items(), ("--", ":"), strict=False):
        axes.axvline(length, color=INK, linestyle=dashes, linewidth=1)
        at_right = length == longest
        axes.annotate(
            f"{name} {length:.1f}",
            (length, 1),
            (4 if at_right else -4, 2),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="left" if at_right else "right",
            va="bottom",
            fontsize="small",
        )
    axes.set_xlabel("terms")
    return figure


# Precision and recall


RECALL = tuple(n / 10 for n in range(11))
_MIN_SPAN, _MIN_MARGIN = 0.5, 0.02
Curves = dict[str, tuple[float, ...]]
"""By run, interpolated precision at each point of RECALL."""


def compute_curves(qrels: Qrels, runs: Mapping[str, Scores]) -> Curves:
    """The means over all judged topics, computed by ir_measures as IPrec@recall."""
    names = [f"IPrec@{recall}" for recall in RECALL]
    evaluator = Evaluator(names, qrels)
    by_run = {run: evaluator.evaluate(scores) for run, scores in runs.items()}
    return {run: tuple(mean(name, values[name].values()) for name in names) for run, values in by_run.items()}


def build_precision_recall(curves: Curves) -> Picture:
    return Picture(
        "precision-recall",
        "Precision and recall",
        "Interpolated precision at eleven points of recall, averaged over topics. Higher is better: the "
        "first answers are on the left, the last relevant sentence on the right."
        + (" The axis of precision does not begin at 0." if _limits(curves)[0] > 0 else ""),
        draw_precision_recall(curves),
        precision_recall_rows(curves),
    )


def precision_recall_rows(curves: Curves) -> Sequence[Sequence[str]]:
    points = [[f"{recall:.1f}"] for recall in RECALL]
    for position, row in enumerate(points):
        row += [f"{values[position]:.4f}" for values in curves.values()]
    return [["recall", *curves], *points]


def _limits(curves: Curves) -> tuple[float, float]:
    """The limits of the precision axis: 0 to 1, or close to the lines if they span less than half of that."""
    all_values = [value for values in curves.values() for value in values]
    low, high = min(all_values), max(all_values)
    if high - low > _MIN_SPAN:
        return 0.0, 1.02
    margin = max(_MIN_MARGIN, (high - low) / 4)
    return max(0.0, low - margin), min(1.02, high + margin)


@with_style
def draw_precision_recall(curves: Curves) -> Figure:
    height = max(4.2, 0.19 * len(curves) + 0.7)
    figure = create_figure(height)
    axes = figure.add_subplot()
    for position, values in enumerate(curves.values()):
        run_style = style_of(position)
        axes.plot(RECALL, values, color=run_style.color, marker=run_style.marker, linestyle=run_style.dashes)
    axes.set(xlabel="recall", ylabel="precision", xlim=(-0.015, 1.015), ylim=_limits(curves))
    axes.set_xticks([n / 5 for n in range(6)])
    ends = [values[-1] for values in curves.values()]
    label_ends(axes, RECALL[-1], ends, [shorten(run) for run in curves], height - 0.7)
    return figure


# The sentences that moved

MOVED_TOPICS, MOVES_DEPTH, MOVES = 10, 10, 12
"""Topics listed at each end of a run, ranks considered, and maximum sentences shown for a topic."""


class Move(NamedTuple):
    """A sentence with its ranks, from 1, by the baseline and by the run; None if it is not ranked.

    `grade` is None for a sentence that was not judged.
    """

    sentence: str
    before: int | None
    after: int | None
    grade: int | None


class TopicMoves(NamedTuple):
    """A topic's values by the baseline and by a run, and the sentences that moved, the relevant first."""

    run: str
    topic: str
    before: float
    after: float
    moves: Sequence[Move]


def find_moves(
    gains: Sequence[Gains],
    results: Sequence[RunEvaluation],
    measure: str,
    qrels: Qrels,
    runs: Mapping[str, Scores],
) -> list[TopicMoves]:
    """The MOVED_TOPICS largest gains of each run, then as many losses.

    For each topic they have at most MOVES sentences: relevant ones whose rank differs, and others that enter
    or leave the first MOVES_DEPTH ranks.
    """
    values = {result.name: result.values[measure] for result in results}
    baseline = next(result.name for result in results if result.is_baseline)
    found = []
    for of_run in gains:
        pairs = list(zip(of_run.topics, of_run.values, strict=True))
        best = [topic for topic, value in pairs[:MOVED_TOPICS] if value > 0]
        worst = [topic for topic, value in pairs[: -MOVED_TOPICS - 1 : -1] if value < 0]
        for topic in [*best, *worst]:
            before, after = (
                {sentence: rank for rank, sentence in enumerate(sort_sentences(scores.get(topic, {})), 1)}
                for scores in (runs[baseline], runs[of_run.run])
            )
            moves = _choose_moves(before, after, qrels[topic])
            of_topic = values[baseline][topic], values[of_run.run][topic]
            found.append(TopicMoves(of_run.run, topic, *of_topic, moves))
    return found


def _choose_moves(
    before: Mapping[str, int], after: Mapping[str, int], grades: Mapping[str, int]
) -> list[Move]:
    moves = [Move(s, before.get(s), after.get(s), grades.get(s)) for s in {**before, **after}]
    relevant = [move for move in moves if (move.grade or 0) > 0 and move.before != move.after]
    others = [
        move for move in moves if (move.grade or 0) <= 0 and _is_seen(move.before) != _is_seen(move.after)
    ]
    return [*sorted(relevant, key=_best_rank), *sorted(others, key=_best_rank)][:MOVES]


def _is_seen(rank: int | None) -> bool:
    return rank is not None and rank <= MOVES_DEPTH


def _best_rank(move: Move) -> tuple[int, str]:
    return min(rank for rank in (move.before, move.after) if rank is not None), move.sentence


def read_texts(index: Index, topics: Sequence[TopicMoves]) -> dict[str, str]:
    """The text of every sentence that moved. Raises UsageError if the index lacks one."""
    ids = list(dict.fromkeys(move.sentence for topic in topics for move in topic.moves))
    return {record.sentence_id: record.text for record in index.read(ids, Records())}


def render_moves(
    topics: Sequence[TopicMoves],
    measure: str,
    baseline: str,
    queries: Mapping[str, str],
    texts: Mapping[str, str],
) -> str:
    """A section of HTML with a collapsible line for each topic. Queries and texts may be missing."""
    if not topics:
        return ""
    return (
        '<section class="moves">\n<h2>Topics that gain or lose most, and the sentences that moved</h2>\n'
        f"<p>At most {MOVED_TOPICS} topics of each run that gain, and {MOVED_TOPICS} that lose, "
        f"by {escape(measure)}. "
        f"Shown are relevant sentences with another rank than by {escape(baseline)}, then others that enter "
        f"or leave the first {MOVES_DEPTH}.</p>\n"
        f"{''.join(_render_runs(topics, measure, queries, texts))}</section>"
    )


def _render_runs(
    topics: Sequence[TopicMoves], measure: str, queries: Mapping[str, str], texts: Mapping[str, str]
) -> Iterator[str]:
    run = None
    for each in topics:
        if each.run != run:
            run = each.run
            yield f"<h3>{escape(run)}</h3>\n"
        query = f" {escape(queries[each.topic])}" if each.topic in queries else ""
        change = f"{measure} {format_figure(each.before)} → {format_figure(each.after)}"
        yield (
            f"<details><summary><b>{escape(each.topic)}</b>{query} "
            f"<span>{escape(change)} ({format_signed(each.after - each.before)})</span></summary>\n"
            '<div class="wide"><table><thead><tr><th scope="col">sentence</th><th scope="col">before</th>'
            '<th scope="col">after</th><th scope="col">judged</th></tr></thead><tbody>'
        )
        for move in each.moves:
            text = f" {escape(texts[move.sentence])}" if move.sentence in texts else ""
            ranks = "".join(f"<td>{'–' if rank is None else rank}</td>" for rank in move[1:3])
            grade = "not judged" if move.grade is None else str(move.grade)
            yield f'<tr><th scope="row"><i>{escape(move.sentence)}</i>{text}</th>{ranks}<td>{grade}</td></tr>'
        yield "</tbody></table></div></details>\n"
