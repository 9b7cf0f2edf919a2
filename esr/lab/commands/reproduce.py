"""`esr reproduce`: run the papers' experiments on a copy of their data, and write what they found."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, fields
from itertools import groupby
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

import esr
from esr.lab.curves import Estimates
from esr.lab.grid import parse_grid
from esr.lab.reproduce import experiment
from esr.lab.reproduce.annotations import write_texts
from esr.lab.reproduce.claims import ADDED
from esr.lab.reproduce.experiment_results import ExperimentResults
from esr.lab.reproduce.pooled_years import READINGS
from esr.lab.reproduce.protocol import MEASURES, RANKED, RECALL_MEASURES, STATISTICS, TOP_MEASURES, Protocol
from esr.lab.reproduce.raw_files import YEARS, find_raw_files
from esr.lab.reproduce.second_task import EVERYTHING
from esr.lab.reproduce.systems import BASELINES as BASELINE_GROUP
from esr.lab.reproduce.systems import SYSTEMS, TDSR
from esr.lab.reproduce.targets import MARKS, Verdict
from esr.lab.reproduce.year import load
from esr.lab.significance import SystemComparison
from esr.plugin import UsageError
from esr.plugin.provisional import (
    ArgumentRow,
    add_arguments,
    check_output,
    collect_options,
    list_examples,
    open_output,
    require,
    scratch_folder,
    show_steps,
    table_lines,
)
from esr.plugin.provisional import argument_types as types

_ROWS: tuple[ArgumentRow, ...] = (
    ArgumentRow(
        "data",
        "folder with the raw files, anywhere below it",
        types.FilePath(kind="folder"),
        "novelty texts",
        is_required=True,
    ),
    ArgumentRow(
        "work",
        "keep unpacked files, indices and results here, and reuse them. A stopped call goes on from there",
        types.FilePath(kind="folder"),
        "novelty",
    ),
    ArgumentRow("work", "keep unpacked files here, and reuse them", types.FilePath(kind="folder"), "texts"),
    ArgumentRow(
        "train",
        "year to train on, or all",
        types.Choice(labels=dict.fromkeys((*YEARS, experiment.ALL), ""), usual=experiment.ALL),
        "novelty",
    ),
    ArgumentRow(
        "ranked",
        "sentences of a topic to rank. matching: those with a query term; context: all of them, for models "
        "with a context; all: all of them, for every model",
        types.Choice(labels=RANKED, usual="matching"),
        "novelty",
    ),
    ArgumentRow(
        "statistics",
        "compute statistics from all documents of the year, or from each topic's",
        types.Choice(labels=STATISTICS, usual="year"),
        "novelty",
    ),
    ArgumentRow("depth", "sentences per topic", types.WholeNumber(usual=1000), "novelty"),
    ArgumentRow(
        "grid",
        "values to try for parameters with this name, instead of the papers'",
        types.Texts(),
        "novelty",
        is_repeatable=True,
        sets="grid_texts",
        metavar="NAME=V,V,...",
    ),
    ArgumentRow(
        "enrich",
        "compute features, names and parses like esr enrich, where the folder has no annotations of them",
        types.Flag(),
        "novelty",
    ),
    ArgumentRow(
        "output",
        "FILE.md or FILE.json. Default: print Markdown",
        types.FilePath(),
        "novelty",
        is_repeatable=True,
        sets="outputs",
        letter="o",
        metavar="FILE",
    ),
    ArgumentRow(
        "output",
        "folder for the texts, which must not exist",
        types.FilePath(kind="folder"),
        "texts",
        is_required=True,
        letter="o",
    ),
)


@click.group()
def reproduce() -> None:
    """Repeat the papers' experiments, if you have their data."""


class NoveltyOptions(Struct, frozen=True):
    """The open questions of the protocol."""

    train: str
    ranked: str
    statistics: str
    depth: int
    grid_texts: tuple[str, ...]
    enrich: bool


@reproduce.command()
@add_arguments(_ROWS, "novelty")
@collect_options(NoveltyOptions)
def novelty(
    data: Path,
    work: Path | None,
    options: NoveltyOptions,
    outputs: tuple[Path, ...],
) -> None:
    """Repeat the TREC Novelty experiments (2002-2004).

    This goes from raw files to tables beside the papers' figures. esr does not include the data:
    docs/reproduce.md lists the files. Each system is tuned on one year and tested on the others. The open
    questions of the protocol are options. Models of term dependence need parses, those of opinion and names
    need features: from the tools' files in the folder, or by --enrich.

    \b
    Example:
      esr reproduce novelty --data trec-novelty --work work -o novelty.md -o novelty.json
    """
    require("esr reproduce", "ir_measures", "scipy")
    for output in outputs:
        if output.suffix not in (".md", ".json"):
            raise UsageError(f"-o needs a file name that ends in .md or .json, not {output}")
        check_output(output)
    protocol = Protocol(
        options.ranked, options.statistics, options.depth, parse_grid(options.grid_texts), options.enrich
    )
    with ExitStack() as stack:
        work_folder = work or stack.enter_context(scratch_folder("novelty"))
        tick = stack.enter_context(show_steps())
        results = experiment.run(data, work_folder, options.train, protocol, tick)
    verdicts = experiment.verdicts(results)
    for output in outputs:
        with open_output(output) as file:
            if output.suffix == ".md":
                file.write(as_markdown(results, verdicts))
            else:
                file.write(json.dumps(as_json(results, verdicts), indent=1, ensure_ascii=False) + "\n")
        click.echo(f"wrote {output}")
    if not outputs:
        click.echo(as_markdown(results, verdicts), nl=False)
    if results.absent:
        click.echo(f"left out, because {data} has no file of it: {', '.join(results.absent)}", err=True)


@reproduce.command()
@add_arguments(_ROWS, "texts")
def texts(data: Path, work: Path | None, output: Path) -> None:
    """Write the texts for the papers' tools.

    They are a folder per year, with a sentence on each line. There is a file for each document and, with its
    title, for each topic. docs/reproduce.md says how to name what the tools write.

    \b
    Example:
      esr reproduce texts --data trec-novelty -o texts
    """
    if output.exists():
        raise UsageError(f"{output} exists: name a new folder")
    with ExitStack() as stack:
        work_folder = work or stack.enter_context(scratch_folder("novelty"))
        for files in find_raw_files(data).years:
            year = load(files, work_folder)
            titles = {task.topic: task.query for task in year.tasks}
            number = write_texts(year.documents, titles, output / files.year)
            click.echo(f"wrote {number} texts of {files.year}")


# What the experiment found, as JSON at full precision and as a Markdown page


BASELINES = ("tfisf", "dir")


def as_json(results: ExperimentResults, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The protocol, the data, the verdicts on targets, and every table, as JSON data."""
    return {
        "esr": esr.__version__,
        "protocol": {"notes": results.protocol.lines(), **asdict(results.protocol)},
        "absent": results.absent,
        "data": {
            year: asdict(statistics) | {"findings": asdict(results.findings[year])}
            for year, statistics in results.statistics.items()
        },
        "readings": results.interpretations,
        "targets": [
            {
                "id": verdict.target.id,
                "paper": verdict.target.paper,
                "kind": verdict.target.kind,
                "claim": verdict.target.claim,
                "differs": verdict.target.differs,
                "mark": verdict.mark,
                "numbers": [line._asdict() for line in verdict.lines],
            }
            for verdict in verdicts
        ],
        "second_task": {
            year: asdict(task)
            | {"figures": {name: figures._asdict() for name, figures in task.figures.items()}}
            for year, task in results.second_task.items()
        },
        "training": {
            year: {
                name: {"ranking": system.ranking.as_dict(), "AP": system.figure, "tried": system.tried}
                for name, system in systems.items()
            }
            for year, systems in results.trained.items()
        },
        "tables": [
            {"train": train, "test": test, "systems": [_row(results, train, test, name) for name in systems]}
            for (train, test), systems in results.tested.items()
        ],
        "pooled": {
            reading: {name: {"measures": dict(f.means)} for name, f in systems.items()}
            for (_, reading), systems in results.pooled.items()
        },
        "curves": [
            {"year": year, "base": base, "feature": feature, **_curve(estimates)}
            for (year, base, feature), estimates in results.curves.items()
        ],
        "examples": {
            name: [example._asdict() for example in examples] for name, examples in results.examples.items()
        },
        "promotions": [
            {"train": train, "test": test, "topics": [promotion._asdict() for promotion in promotions]}
            for (train, test), promotions in results.promotions.items()
        ],
    }


def _curve(estimates: Estimates) -> dict[str, list[float]]:
    return {name: getattr(estimates, name).tolist() for name in _CURVE}


def _row(results: ExperimentResults, train: str, test: str, name: str) -> dict[str, Any]:
    tested = results.tested[train, test][name]
    row: dict[str, Any] = {
        "name": name,
        "group": SYSTEMS[name].group,
        "measures": dict(tested.means),
        "top_length": tested.top_length,
    }
    for baseline in BASELINES:
        comparisons = {m: results.compare(train, test, name, baseline, m) for m in MEASURES}
        row[f"against_{baseline}"] = {m: _comparison(comparison) for m, comparison in comparisons.items()}
    return row | {"topics": {measure: tested.values[measure] for measure in MEASURES}}


def _comparison(comparison: SystemComparison | None) -> dict[str, float | None]:
    values = {} if comparison is None else comparison.as_dict()
    return {name: values.get(name) for name in ("difference", "low", "high", "effect", "t_test")}


_MAX_EXAMPLES = 5
_CURVE = {
    "values": "I",
    "everywhere": "p(I)",
    "relevant": "p(I|R)",
    "top": "p(I|T)",
    "indep": "indep",
    "floe": "FLOE",
}
"""The columns of a curve, and their heads."""
_SIGNS = {"tfisf": ("*", "**"), "dir": ("†", "††")}
_FINDINGS = {
    "unknown_sentences": "relevant sentences that the archive lacks",
    "outside_of_topic": "relevant sentences outside of their topic's documents",
    "missing_documents": "documents of topics that the archive lacks",
    "conflicting_sentences": "duplicated sentences with different texts (the first was used)",
    "unjudged_topics": "topics without a relevant sentence, left out",
    "judged_without_topic": "judged topics that the topics file lacks, left out",
    "without_documents": "topics without any document",
    "without_opinions": "documents without a file of opinions",
    "without_names": "documents without a file of names",
    "without_parses": "documents without a file of parses",
}


def as_markdown(results: ExperimentResults, verdicts: Sequence[Verdict]) -> str:
    """The protocol, the data and the targets, then a table for each pair of training and test year."""
    parts = [*_head(results), *_data(results), *_interpretations(results), *_targets(verdicts)]
    parts += _second_task(results)
    for train, test in results.tested:
        parts += _table(results, train, test)
        parts += _recall_table(results, train, test)
    parts += [*_pooled_tables(results), *_curves(results)]
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
    heads = ["year", "topics", "documents", "sentences", "ranked", "relevant", "micro %", "macro %"]
    rows = [
        [
            year,
            *map(str, (s.topics, s.documents, s.sentences, s.ranked, s.relevant)),
            *(f"{100 * share:.2f}" for share in (s.relevant_micro, s.relevant_macro)),
            *(f"{length:.2f}" for length in (s.sentence_length, s.relevant_length)),
        ]
        for year, s in results.statistics.items()
    ]
    yield from table_lines([*heads, "terms of a sentence", "of a relevant one"], rows, left=1)
    yield ""
    for year, findings in results.findings.items():
        for field in fields(findings):
            names = getattr(findings, field.name)
            if field.name in _FINDINGS and names:
                yield f"- {year}: {len(names)} {_FINDINGS[field.name]}: {list_examples(names)}"


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
    yield from (f"- {marks.count(mark)} **{mark}**: {meaning}" for mark, meaning in MARKS.items())
    yield "\nFLA is Fernández, Losada & Azzopardi 2011, FL Fernández & Losada 2012; TDSR and MRF are "
    yield "Cai et al. 2007."
    yield f"Added by a second reading of the papers: {', '.join(ADDED)}.\n"
    rows = [[v.target.id, v.target.kind, v.target.claim, f"**{v.mark}**", v.target.differs] for v in verdicts]
    yield from table_lines(["", "", "claim", "", "what differs, or why nothing judges it"], rows, left=5)
    for verdict in verdicts:
        if verdict.lines:
            yield f"\n### {verdict.target.id}: {verdict.mark}\n\n{verdict.target.claim}\n"
            signs = {True: "yes", False: "no", None: "?"}
            rows = [[*line[:3], signs[line.holds]] for line in verdict.lines]
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
    tested_systems = [system for name, system in SYSTEMS.items() if name in results.tested[train, test]]
    for group, systems in groupby(tested_systems, key=lambda system: system.group):
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


def _recall_table(results: ExperimentResults, train: str, test: str) -> Iterator[str]:
    """Precision at points of recall for the third paper's systems."""
    names = [name for name in results.tested[train, test] if SYSTEMS[name].group in (BASELINE_GROUP, TDSR)]
    if not any(SYSTEMS[name].group == TDSR for name in names):
        return
    yield "Precision at points of recall:\n"
    means = [results.tested[train, test][name].means for name in names]
    rows = [[n, *(f"{m[r]:.4f}" for r in RECALL_MEASURES)] for n, m in zip(names, means, strict=True)]
    yield from table_lines(["", *(name.removeprefix("IPrec@") for name in RECALL_MEASURES)], rows, left=1)
    yield ""


def _pooled_tables(results: ExperimentResults) -> Iterator[str]:
    for (_, reading), systems in results.pooled.items():
        yield f"\n## N1-N100, each topic with what was trained on the other year's, in {READINGS[reading]}\n"
        measures = (*TOP_MEASURES, "AP")
        rows = [[name, *(f"{figures.means[m]:.4f}" for m in measures)] for name, figures in systems.items()]
        yield from table_lines(["", *measures], rows, left=1)


def _curves(results: ExperimentResults) -> Iterator[str]:
    for (year, base, feature), estimates in results.curves.items():
        yield f"\n## Curves of {feature} over {base}, {year}\n"
        columns = [getattr(estimates, name).tolist() for name in _CURVE]
        rows = [[f"{row[0]:g}", *(f"{value:.4f}" for value in row[1:])] for row in zip(*columns, strict=True)]
        yield from table_lines([*_CURVE.values()], rows, left=0)


def _marks(results: ExperimentResults, train: str, test: str, name: str, measure: str) -> str:
    marks = ""
    for baseline, (at_95, at_99) in _SIGNS.items():
        comparison = results.compare(train, test, name, baseline, measure)
        if comparison is not None and comparison.t_test < 0.05:
            marks += at_99 if comparison.t_test < 0.01 else at_95
    return marks.replace("*", "\\*")


def _format_value(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
