"""What a report is made of: judgements and runs read from files, and what is to be said of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from esr.evaluation import qrels as judgements
from esr.evaluation import runs as run_files
from esr.evaluation.qrels import Qrels
from esr.evaluation.runs import Scores

_SHOWN = 5


class Inputs(NamedTuple):
    """Judgements and runs by name. `baseline` is the name of one; `notes` tell what readers should know."""

    qrels: Qrels
    runs: dict[str, Scores]
    baseline: str | None
    notes: list[str]


def read(qrels: str, runs: Sequence[str], baseline: str | None, kinds: Mapping[str, str] | None) -> Inputs:
    """Read the files; the baseline, which may also stand among the runs, becomes the first run.

    Runs are called by their tags, or by their paths if two have the same tag. Raises InputError.
    """
    judged = judgements.read(qrels)
    paths = run_files.distinct([*([baseline] if baseline else []), *runs])
    found = {path: run_files.read(path) for path in paths}
    names = run_files.names(found)
    notes = [*_about_qrels(judged, kinds)]
    scores = {names[path]: run.scores for path, run in found.items()}
    notes += _about_runs(scores, judged)
    return Inputs(judged, scores, names[baseline] if baseline else None, notes)


def _about_qrels(judged: Qrels, kinds: Mapping[str, str] | None) -> Iterator[str]:
    some = f"{{}} of {len(judged):,} judged topics have no "
    yield from _note(some + "relevant sentence and score 0", judgements.without_relevant(judged))
    if kinds is not None:
        yield from _note(some + "type", [topic for topic in judged if topic not in kinds])


def _about_runs(runs: Mapping[str, Scores], judged: Qrels) -> Iterator[str]:
    """Runs that lack the same topics, or answer the same that are not judged, share a note."""
    lacks = _together({run: [t for t in judged if t not in scores] for run, scores in runs.items()})
    for missing, names in lacks.items():
        verb = "lack" if len(names) > 1 else "lacks"
        text = f"{_called(names)} {verb} {{}} of {len(judged):,} judged topics, which score 0"
        yield from _note(text, missing)
    extras = _together({run: [t for t in scores if t not in judged] for run, scores in runs.items()})
    for extra, names in extras.items():
        verb = "answer" if len(names) > 1 else "answers"
        text = f"{_called(names)} {verb} {{}} topics without judgements, which are passed over"
        yield from _note(text, extra)


def _together(found: Mapping[str, Sequence[str]]) -> dict[tuple[str, ...], list[str]]:
    together: dict[tuple[str, ...], list[str]] = {}
    for run, topics in found.items():
        together.setdefault(tuple(sorted(topics)), []).append(run)
    return together


def _called(names: Sequence[str]) -> str:
    """The names within a text that is to be formatted."""
    text = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    return text.replace("{", "{{").replace("}", "}}")


def _note(text: str, ids: Sequence[str]) -> Iterator[str]:
    """A note with the number of ids at {} and the first of them, or nothing if there are none."""
    if ids:
        first = ", ".join(ids[:_SHOWN]) + (", …" if len(ids) > _SHOWN else "")
        yield f"{text.format(format(len(ids), ','))}: {first}"
