"""The picture of the lengths of top-ranked sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from matplotlib.figure import Figure

from esr.lab.judgements import Qrels, find_unknown_sentences
from esr.lab.report.picture_style import INK, PAPER, create_figure, get_style, shorten, with_style
from esr.lab.report.pictures import Picture
from esr.plugin import UsageError
from esr.plugin.provisional import EngineIndex as Index
from esr.plugin.provisional import EvidenceOf, Scores, sort_sentences

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
    missing = set(find_unknown_sentences(qrels, index))
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
        list_lengths(lengths),
    )


def list_lengths(lengths: Lengths) -> list[list[str]]:
    rows = [["", "terms"], *([run, f"{length:.2f}"] for run, length in lengths.runs.items())]
    return rows + [[name, f"{length:.2f}"] for name, length in _find_references(lengths).items()]


def _find_references(lengths: Lengths) -> dict[str, float]:
    references = {"all sentences": lengths.collection}
    if lengths.relevant is not None:
        references["relevant sentences"] = lengths.relevant
    return references


@with_style
def draw_lengths(lengths: Lengths) -> Figure:
    figure = create_figure(max(1.8, 0.32 * len(lengths.runs) + 1.1))
    axes = figure.add_subplot()
    positions = range(len(lengths.runs))
    colors = [get_style(position).color for position in positions]
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
    references = _find_references(lengths)
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
