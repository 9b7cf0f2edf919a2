"""The results of the experiment as a page of Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import groupby

import esr
from esr.evaluation.reproduce.experiment_results import ExperimentResults
from esr.evaluation.reproduce.protocol import MEASURES
from esr.evaluation.reproduce.second_task import EVERYTHING
from esr.evaluation.reproduce.systems import SYSTEMS
from esr.evaluation.reproduce.target import MET, NOT_BUILT, NOT_MET, UNCHECKED, Verdict
from esr.markdown import table_lines

_MAX_EXAMPLES = 5
_SIGNS = {"tfisf": ("*", "**"), "dir": ("†", "††")}
_FINDINGS = {
    "unknown_sentences": "relevant sentences that the archive lacks",
    "outside_of_topic": "relevant sentences outside of their topic's documents",
    "missing_documents": "documents of topics that the archive lacks",
    "conflicting_sentences": "duplicated sentences with different texts (the first was used)",
    "unjudged_topics": "topics without a relevant sentence, left out",
    "judged_without_topic": "judged topics that the topics file lacks, left out",
    "without_documents": "topics without any document",
}


def as_markdown(results: ExperimentResults, verdicts: Sequence[Verdict]) -> str:
    """The protocol, the data, the targets, then a table for each pair of training and test year."""
    parts = [*_head(results), *_data(results), *_interpretations(results), *_targets(verdicts)]
    parts += _second_task(results)
    for train, test in results.tested:
        parts += _table(results, train, test)
    return "\n".join(parts) + "\n"


def _head(results: ExperimentResults) -> Iterator[str]:
    yield "# The papers' experiments on the TREC Novelty data\n"
    yield f"Written by `esr reproduce novelty`, esr {esr.__version__}. Figures of esr, not of the papers.\n"
    yield "## Protocol\n"
    yield from (f"- {line}" for line in results.protocol.lines())
    if results.absent:
        yield f"- left out, because the folder has no file of it: {', '.join(results.absent)}"


def _data(results: ExperimentResults) -> Iterator[str]:
    yield "\n## Data\n"
    yield from table_lines(
        ["year", "topics", "documents", "sentences", "ranked", "relevant", "micro %", "macro %", "terms of a "
         "sentence", "of a relevant one"],
        [
            [year, *map(str, (s.topics, s.documents, s.sentences, s.ranked, s.relevant)), *map(_format, (
                100 * s.relevant_micro, 100 * s.relevant_macro, s.sentence_length, s.relevant_length
            ))]
            for year, s in results.statistics.items()
        ],
        left=1,
    )  # fmt: skip
    yield ""
    for year, findings in results.findings.items():
        for field in fields(findings):
            names = getattr(findings, field.name)
            if field.name in _FINDINGS and names:
                examples = ", ".join(names[:_MAX_EXAMPLES]) + (", …" if len(names) > _MAX_EXAMPLES else "")
                yield f"- {year}: {len(names)} {_FINDINGS[field.name]}: {examples}"


def _interpretations(results: ExperimentResults) -> Iterator[str]:
    yield "\n## AP of plain tfisf under each interpretation of the protocol\n"
    yield "Cai et al. 2007 give 0.308 for 2003 and 0.215 for 2004: the closest interpretation is theirs.\n"
    years = results.interpretations
    names = list(next(iter(years.values())))
    rows = [[name, *(f"{figures[name]:.4f}" for figures in years.values())] for name in names]
    yield from table_lines(["ranked, statistics", *years], rows, left=1)


def _targets(verdicts: Sequence[Verdict]) -> Iterator[str]:
    yield "\n## What survives of the papers' results\n"
    marks = [verdict.mark for verdict in verdicts]
    yield ", ".join(f"{marks.count(mark)} {mark}" for mark in (MET, NOT_MET, UNCHECKED, NOT_BUILT)) + ".\n"
    rows = [[v.target.id, v.target.claim, v.target.source, f"**{v.mark}**"] for v in verdicts]
    yield from table_lines(["", "claim", "source", ""], rows, left=4)
    for verdict in verdicts:
        if verdict.lines:
            yield f"\n### {verdict.target.id}: {verdict.mark}\n\n{verdict.target.claim}\n"
            signs = {True: "yes", False: "no", None: "?"}
            rows = [[line.what, line.claimed, line.found, signs[line.holds]] for line in verdict.lines]
            yield from table_lines(["", "claimed", "found", "holds"], rows, left=4)


def _second_task(results: ExperimentResults) -> Iterator[str]:
    yield "\n## Second task: which of the relevant sentences are new?\n"
    if not results.second_task:
        yield "The folder has no judgements of what is new."
        return
    yield "Sentences are in the order of the topic's documents. One is new if no earlier one has the share of"
    yield f"it that stands in the first column; {EVERYTHING}: all are new. Means over topics.\n"
    for year, task in results.second_task.items():
        yield f"### {year}: {task.topics} topics, {task.judged} relevant sentences, {task.new} of them new\n"
        if task.not_relevant:
            examples = ", ".join(task.not_relevant[:_MAX_EXAMPLES])
            yield f"{len(task.not_relevant)} sentences are judged new and not relevant, such as {examples}.\n"
        rows = [[name, *(f"{value:.4f}" for value in figures)] for name, figures in task.figures.items()]
        yield from table_lines(["overlap", "precision", "recall", "F"], rows, left=1)
        yield ""


def _table(results: ExperimentResults, train: str, test: str) -> Iterator[str]:
    yield f"\n## Trained on {train}, tested on {test}\n"
    yield "`*` differs from tfisf at 95 %, `**` at 99 %; `†` and `††` from dir.\n"
    for group, systems in groupby(SYSTEMS.values(), key=lambda system: system.group):
        rows = []
        for system in systems:
            tested, trained = results.tested[train, test][system.name], results.trained[train][system.name]
            row = [system.name]
            row += [
                f"{tested.means[m]:.4f} {_marks(results, train, test, system.name, m)}".rstrip()
                for m in MEASURES
            ]
            params = " ".join(f"{name}={_format_value(v)}" for name, v in trained.ranking.params.items())
            rows.append([*row, f"{tested.top_length:.2f}", f"{trained.figure:.4f}", params])
        head = [group, *MEASURES, "top-100 length", "AP in training", "parameters"]
        yield from table_lines(head, rows, left=1)
        yield ""


def _marks(results: ExperimentResults, train: str, test: str, name: str, measure: str) -> str:
    marks = ""
    for baseline, (at_95, at_99) in _SIGNS.items():
        comparison = results.compare(train, test, name, baseline, measure)
        if comparison is not None and comparison.t_test < 0.05:
            marks += at_99 if comparison.t_test < 0.01 else at_95
    return marks.replace("*", "\\*")


def _format(value: float) -> str:
    return f"{value:.2f}"


def _format_value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
