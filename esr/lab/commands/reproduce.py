"""`esr reproduce`: run the papers' experiments on the user's copy of their data."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import click

from esr.cli import options
from esr.cli.output import check_output, open_output
from esr.errors import UsageError
from esr.extras import require
from esr.processes import scratch_folder

_FOLDER = click.Path(file_okay=False, path_type=Path)
# Copies from esr.lab.reproduce, which is only imported when needed. A test compares them.
_TRAIN = ("2002", "2003", "2004", "all")
_RANKED = ("matching", "context", "all")
_STATISTICS = ("year", "topic")


@click.group()
def reproduce() -> None:
    """Repeat the papers' experiments, if you have their data."""


@reproduce.command()
@click.option("--data", required=True, type=_FOLDER, help="Folder with the raw files, anywhere below it.")
@click.option("--work", type=_FOLDER, help="Keep unpacked files and indices here, and reuse them.")
@click.option("--train", type=click.Choice(_TRAIN), default="all", help="Year to train on, or all.")
@click.option(
    "--ranked",
    type=click.Choice(_RANKED),
    default="matching",
    help="Sentences of a topic to rank. matching: those with a query term; context: all of them, for models "
    "with a context; all: all of them, for every model.",
)
@click.option(
    "--statistics",
    type=click.Choice(_STATISTICS),
    default="year",
    help="Compute statistics from all documents of the year, or from each topic's.",
)
@click.option("--depth", type=click.IntRange(1), default=1000, help="Sentences per topic.")
@click.option(
    "--grid",
    "grid_texts",
    multiple=True,
    metavar="NAME=V,V,...",
    help="Values to try for parameters with this name, instead of the papers'. May be repeated.",
)
@click.option(
    "--enrich",
    is_flag=True,
    help="Compute features, names and parses like esr enrich, where the folder has no annotations of them.",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=options.FILE,
    metavar="FILE",
    help="FILE.md or FILE.json; may be repeated. Default: print Markdown.",
)
def novelty(
    data: Path,
    work: Path | None,
    train: str,
    ranked: str,
    statistics: str,
    depth: int,
    grid_texts: tuple[str, ...],
    enrich: bool,
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
    from tqdm import tqdm

    from esr.lab.grid import parse_grid
    from esr.lab.reproduce import experiment
    from esr.lab.reproduce.output import as_json, as_markdown
    from esr.lab.reproduce.systems import Protocol

    require("esr reproduce", "ir_measures", "scipy")
    for output in outputs:
        if output.suffix not in (".md", ".json"):
            raise UsageError(f"-o needs a file name that ends in .md or .json, not {output}")
        check_output(output)
    protocol = Protocol(ranked, statistics, depth, parse_grid(grid_texts), enrich)
    with ExitStack() as stack:
        work_folder = work or stack.enter_context(scratch_folder("novelty"))
        bar = stack.enter_context(tqdm(unit=" steps", disable=None, leave=False))

        def tick(step: str) -> None:
            bar.set_description_str(step)
            bar.update(1)

        results = experiment.run(data, work_folder, train, protocol, tick)
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
@click.option("--data", required=True, type=_FOLDER, help="Folder with the raw files, anywhere below it.")
@click.option("--work", type=_FOLDER, help="Keep unpacked files here, and reuse them.")
@click.option(
    "-o", "--output", required=True, type=_FOLDER, help="Folder for the texts, which must not exist."
)
def texts(data: Path, work: Path | None, output: Path) -> None:
    """Write the texts for the papers' tools.

    They are a folder per year, with a sentence on each line. There is a file for each document and, with its
    title, for each topic. docs/reproduce.md says how to name what the tools write.

    \b
    Example:
      esr reproduce texts --data trec-novelty -o texts
    """
    from esr.lab.reproduce.annotations import write_texts
    from esr.lab.reproduce.data import find_raw_files, load

    if output.exists():
        raise UsageError(f"{output} exists: name a new folder")
    with ExitStack() as stack:
        work_folder = work or stack.enter_context(scratch_folder("novelty"))
        for files in find_raw_files(data).years:
            year = load(files, work_folder)
            titles = {task.topic: task.query for task in year.tasks}
            number = write_texts(year.documents, titles, output / files.year)
            click.echo(f"wrote {number} texts of {files.year}")
