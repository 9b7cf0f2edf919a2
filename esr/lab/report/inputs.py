"""The inputs of a report: judgements and runs from files, and notes about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from esr.batch.runs import Scores, display_names, read_run, remove_duplicates
from esr.lab.measures import Qrels, read_qrels, without_relevant

_MAX_EXAMPLES = 5


class Inputs(NamedTuple):
    """Judgements and runs by name.

    `baseline` names one of the runs; `notes` are for readers of the report.
    """

    qrels: Qrels
    runs: dict[str, Scores]
    baseline: str | None
    notes: list[str]


def read_inputs(
    qrels: str, runs: Sequence[str], baseline: str | None, kinds: Mapping[str, str] | None
) -> Inputs:
    """Read judgements and runs. The baseline becomes the first run, whether it is among `runs` or not.

    Runs are named by their tags, or all by their paths if two have the same tag. Raises InputError.
    """
    judged = read_qrels(qrels)
    paths = remove_duplicates([*([baseline] if baseline else []), *runs])
    by_path = {path: read_run(path) for path in paths}
    names = display_names(by_path)
    notes = [*_check_judgements(judged, kinds)]
    scores = {names[path]: run.scores for path, run in by_path.items()}
    notes += _check_runs(scores, judged)
    return Inputs(judged, scores, names[baseline] if baseline else None, notes)


def _check_judgements(judged: Qrels, kinds: Mapping[str, str] | None) -> Iterator[str]:
    start = f"{{}} of {len(judged):,} judged topics have no "
    yield from _format_note(start + "relevant sentence and score 0", without_relevant(judged))
    if kinds is not None:
        yield from _format_note(start + "type", [topic for topic in judged if topic not in kinds])


def _check_runs(runs: Mapping[str, Scores], judged: Qrels) -> Iterator[str]:
    """Notes on missing and unjudged topics. Runs with the same topics share a note."""
    lacks = _group_runs({run: [t for t in judged if t not in scores] for run, scores in runs.items()})
    for missing, names in lacks.items():
        verb = "lack" if len(names) > 1 else "lacks"
        text = f"{_join_names(names)} {verb} {{}} of {len(judged):,} judged topics, which score 0"
        yield from _format_note(text, missing)
    extras = _group_runs({run: [t for t in scores if t not in judged] for run, scores in runs.items()})
    for extra, names in extras.items():
        verb = "answer" if len(names) > 1 else "answers"
        text = f"{_join_names(names)} {verb} {{}} topics without judgements, which are ignored"
        yield from _format_note(text, extra)


def _group_runs(topics_by_run: Mapping[str, Sequence[str]]) -> dict[tuple[str, ...], list[str]]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for run, topics in topics_by_run.items():
        groups.setdefault(tuple(sorted(topics)), []).append(run)
    return groups


def _join_names(names: Sequence[str]) -> str:
    """List the first names, escaped for `str.format`."""
    more = f" and {len(names) - _MAX_EXAMPLES} more" if len(names) > _MAX_EXAMPLES else ""
    text = ", ".join(names[:_MAX_EXAMPLES]) + more
    return text.replace("{", "{{").replace("}", "}}")


def _format_note(text: str, ids: Sequence[str]) -> Iterator[str]:
    """A note with the number of ids in place of {}, followed by the first ids; nothing without ids."""
    if ids:
        examples = ", ".join(ids[:_MAX_EXAMPLES]) + (", …" if len(ids) > _MAX_EXAMPLES else "")
        yield f"{text.format(format(len(ids), ','))}: {examples}"
