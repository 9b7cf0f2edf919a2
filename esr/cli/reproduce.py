"""`esr reproduce`: the papers' experiments on data that the user holds."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from esr.cli import options
from esr.cli.output import check, written
from esr.errors import UsageError
from esr.extras import require

_FOLDER = click.Path(file_okay=False, path_type=Path)
# As in esr.evaluation.reproduce; written out so that other commands start without it. A test compares them.
_TRAIN = ("2002", "2003", "2004", "all")
_RANKED = ("matching", "context", "all")
_STATISTICS = ("year", "topic")


@click.group()
def reproduce() -> None:
    """The papers' experiments, for those who hold the data."""


@reproduce.command()
@click.option("--data", required=True, type=_FOLDER, help="Folder with the raw files, anywhere below it.")
@click.option("--work", type=_FOLDER, help="Keep unpacked files and indexes here, and take them up again.")
@click.option(
    "--train", type=click.Choice(_TRAIN), default="all", show_default=True, help="Year to train on, or each."
)
@click.option(
    "--ranked",
    type=click.Choice(_RANKED),
    default="matching",
    show_default=True,
    help="Of a topic's sentences, rank those with a query term; all with models that look at a context; all.",
)
@click.option(
    "--statistics",
    type=click.Choice(_STATISTICS),
    default="year",
    show_default=True,
    help="Count over all documents of the year, or over each topic's.",
)
@click.option("--depth", type=click.IntRange(1), default=1000, show_default=True, help="Sentences a topic.")
@click.option(
    "--grid",
    "grid_texts",
    multiple=True,
    metavar="NAME=V,V,...",
    help="Values to try for parameters of this name, in the place of the papers'. May be repeated.",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=options.FILE,
    metavar="FILE",
    help="FILE.md or FILE.json; may be repeated. Without it Markdown is printed.",
)
def novelty(
    data: Path,
    work: Path | None,
    train: str,
    ranked: str,
    statistics: str,
    depth: int,
    grid_texts: tuple[str, ...],
    outputs: tuple[Path, ...],
) -> None:
    """The TREC Novelty experiments (2002-2004): raw files to tables, beside what survives of the papers.

    esr does not come with this data: see docs/reproduce.md for the files that are needed. Each system
    is tuned on one year and tested on the others. The open questions of the protocol are options.

    \b
    Example:
      esr reproduce novelty --data trec-novelty --work work -o novelty.md -o novelty.json
    """
    from tqdm import tqdm

    from esr.evaluation.reproduce import experiment
    from esr.evaluation.reproduce.as_json import as_json
    from esr.evaluation.reproduce.as_markdown import as_markdown
    from esr.evaluation.reproduce.protocol import Protocol
    from esr.evaluation.tuning import grid as grids

    require("esr reproduce", "ir_measures", "scipy")
    for output in outputs:
        if output.suffix not in (".md", ".json"):
            raise UsageError(f"-o wants a file called .md or .json, not {output}")
        check(output)
    protocol = Protocol(ranked, statistics, depth, grids.parse(grid_texts))
    with ExitStack() as stack:
        place = work or Path(stack.enter_context(TemporaryDirectory(prefix="esr-novelty-")))
        bar = stack.enter_context(tqdm(unit=" steps", disable=None, leave=False))

        def tick(what: str) -> None:
            bar.set_description_str(what)
            bar.update(1)

        found = experiment.run(data, place, train, protocol, tick)
    verdicts = experiment.verdicts(found)
    for output in outputs:
        with written(output) as file:
            if output.suffix == ".md":
                file.write(as_markdown(found, verdicts))
            else:
                file.write(json.dumps(as_json(found, verdicts), indent=1, ensure_ascii=False) + "\n")
        click.echo(f"wrote {output}")
    if not outputs:
        click.echo(as_markdown(found, verdicts), nl=False)
    if found.absent:
        click.echo(f"left out, as {data} holds no file of it: {', '.join(found.absent)}", err=True)
