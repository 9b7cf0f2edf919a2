"""`esr estimate`: a model's parameters from the collection alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np

import esr
from esr.cli import options
from esr.cli.output import check
from esr.cli.tuned import counting, grid_of, grid_option, measure_option, save, setting, way_option
from esr.evaluation.tuning import grid as grids
from esr.evaluation.tuning import likelihood, pseudo
from esr.evaluation.tuning.figures import Tuner
from esr.evaluation.tuning.training import train
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher

PSEUDO_TOPICS, LIKELIHOOD = "pseudo-topics", "likelihood"


@click.command()
@options.index
@options.ranking
@grid_option
@click.option(
    "--from",
    "source",
    type=click.Choice([PSEUDO_TOPICS, LIKELIHOOD]),
    default=PSEUDO_TOPICS,
    show_default=True,
    help="Topics made from the collection, or the textbook's likelihood of left-out words (much worse).",
)
@click.option(
    "--topics",
    "number",
    type=click.IntRange(10),
    default=pseudo.ENOUGH,
    show_default=True,
    help="How many pseudo-topics, or sentences for the likelihood.",
)
@measure_option
@way_option("ascent")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Draws other sentences.")
@click.option(
    "-o", "--output", type=options.FILE, help="Write the estimated ranking to this file, for --ranking."
)
@options.as_json
def estimate(
    where: str,
    ranking: Ranking,
    grid_texts: tuple[str, ...],
    source: str,
    number: int,
    measure: str,
    way: str,
    seed: int,
    output: Path | None,
    as_json: bool,
) -> None:
    """Find a model's parameters without topics or judgements.

    Topics are made from sentences drawn from the collection: half of their words are foreign, the others
    are the sentence's own or stand around it. Then every setting is tried on them, as esr tune does.

    \b
    Example:
      esr estimate --index my-index -o estimated.json
      esr search "harbour strike" --index my-index --ranking estimated.json
    """
    if output:
        check(output)
    grid = grid_of(ranking, grid_texts)
    settings = grids.settings(ranking, grid)
    with esr.open(where) as searcher:
        if source == LIKELIHOOD:
            found = _by_likelihood(searcher, settings, number, seed)
        else:
            tasks = pseudo.tasks(searcher.index, number, seed)
            with counting() as tick:
                best = train(Tuner(searcher, tasks, measure), ranking, grid, way, tick)
            found = {"ranking": best.ranking.as_dict(), "topics": len(tasks), "measure": measure}
            found |= {"figure": float(best.figures.mean()), "settings": len(best.tried)}
    found["from"] = source
    if output:
        save(output, found["ranking"])
    click.echo(json.dumps(found, indent=1) if as_json else _text(found))


def _by_likelihood(searcher: Searcher, settings: list[Ranking], number: int, seed: int) -> dict[str, Any]:
    table = likelihood.table(searcher.index, settings, number, seed)
    best = int(np.argmax(table))
    found = {"ranking": settings[best].as_dict(), "topics": number, "settings": len(settings)}
    return found | {"measure": "log p(word)", "figure": float(table[best])}


def _text(found: dict[str, Any]) -> str:
    told = f"best of {found['settings']:,} settings: {setting(found['ranking'])}"
    what = "pseudo-topics" if found["from"] == PSEUDO_TOPICS else "sentences"
    return f"{told}\n{found['measure']} {found['figure']:.4f} on {found['topics']:,} {what} of the collection"
