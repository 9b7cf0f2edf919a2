"""How long the sentences are that runs put first: some models favour short ones, priors long ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from matplotlib.figure import Figure

from esr.engines.index import Index
from esr.errors import UsageError
from esr.evaluation.qrels import Qrels, unknown_sentences
from esr.evaluation.report import style
from esr.evaluation.report.picture import Picture
from esr.evaluation.runs import Scores, ranked

TOP = 100
_BATCH = 500


class Lengths(NamedTuple):
    """Means, in terms: of the top of each run, of the collection, and of the relevant sentences, if any."""

    runs: Mapping[str, float]
    collection: float
    relevant: float | None


def lengths(index: Index, qrels: Qrels, runs: Mapping[str, Scores], top: int = TOP) -> Lengths:
    """The mean length of the best `top` sentences of all judged topics together. Stop words do not count.

    A relevant sentence counts once for each topic. Those that the index does not hold are passed over.
    Raises UsageError for a run with sentences that the index does not hold.
    """
    missing = set(unknown_sentences(qrels, index))
    relevant = [
        s for grades in qrels.values() for s, grade in grades.items() if grade > 0 and s not in missing
    ]
    best = {run: list(_best(scores, qrels, top)) for run, scores in runs.items()}
    known = dict(_lengths(index, relevant))
    for run, ids in best.items():
        try:
            known.update(_lengths(index, [id for id in ids if id not in known]))
        except UsageError as error:
            raise UsageError(f"run {run} is not of this index: {error}") from error
    return Lengths(
        {run: _mean(known[id] for id in ids) for run, ids in best.items()},
        index.statistics([]).collection.average_sentence,
        _mean(known[id] for id in relevant) if relevant else None,
    )


def _best(scores: Scores, qrels: Qrels, top: int) -> Iterator[str]:
    for topic, answers in scores.items():
        if topic in qrels:
            yield from ranked(answers)[:top]


def _lengths(index: Index, ids: Iterable[str]) -> Iterator[tuple[str, float]]:
    wanted = list(dict.fromkeys(ids))
    for start in range(0, len(wanted), _BATCH):
        batch = wanted[start : start + _BATCH]
        yield from zip(batch, map(float, index.evidence([], batch).lengths["sentence"]), strict=True)


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found) if found else 0.0


def picture(found: Lengths) -> Picture:
    return Picture(
        "lengths",
        f"Length of the top {TOP}",
        f"Mean number of terms, without stop words, of the best {TOP} sentences of each topic. The lines "
        "show the mean of all sentences of the index, and of those judged relevant.",
        draw(found),
        rows(found),
    )


def rows(found: Lengths) -> list[list[str]]:
    lines = [["", "terms"], *([run, f"{length:.2f}"] for run, length in found.runs.items())]
    return lines + [[name, f"{length:.2f}"] for name, length in _references(found).items()]


def _references(found: Lengths) -> dict[str, float]:
    known = {"all sentences": found.collection}
    return known if found.relevant is None else known | {"relevant sentences": found.relevant}


@style.styled
def draw(found: Lengths) -> Figure:
    figure = style.figure(max(1.8, 0.32 * len(found.runs) + 1.1))
    axes = figure.add_subplot()
    places = range(len(found.runs))
    colors = [style.look(place).color for place in places]
    axes.barh(places, list(found.runs.values()), height=0.62, color=colors)
    axes.set_yticks(places, [style.short(run) for run in found.runs])
    for place, length in enumerate(found.runs.values()):
        axes.annotate(
            f"{length:.1f}",
            (0, place),
            (5, 0),
            textcoords="offset points",
            va="center",
            color=style.PAPER,
        )
    axes.invert_yaxis()
    axes.grid(False, axis="y")
    axes.tick_params(axis="y", length=0)
    known = _references(found)
    axes.set_xlim(0, max(1.0, *found.runs.values(), *known.values()) * 1.12)
    last = max(known.values())
    for (name, length), dashes in zip(known.items(), ("--", ":"), strict=False):
        axes.axvline(length, color=style.INK, linestyle=dashes, linewidth=1)
        at_right = length == last
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
