"""`esr estimate`: a model's parameters from the collection alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np

import esr
from esr.cli import options
from esr.cli.output_file import check_output
from esr.cli.progress import count_topics
from esr.cli.ranking_options import ranking_options
from esr.cli.tuning_options import (
    build_grid,
    format_ranking,
    grid_option,
    measure_option,
    save_ranking,
    way_option,
)
from esr.evaluation.tuning import grid as grids
from esr.evaluation.tuning import likelihood, pseudo_topics
from esr.evaluation.tuning.training import train
from esr.evaluation.tuning.tuner import Tuner
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher

PSEUDO_TOPICS, LIKELIHOOD = "pseudo-topics", "likelihood"


@click.command()
@options.index
@ranking_options
@grid_option
@click.option(
    "--from",
    "source",
    type=click.Choice([PSEUDO_TOPICS, LIKELIHOOD]),
    default=PSEUDO_TOPICS,
    show_default=True,
    help="Topics generated from the collection, or the textbook's likelihood of held-out words (much worse).",
)
@click.option(
    "--topics",
    "number",
    type=click.IntRange(10),
    default=pseudo_topics.DEFAULT_NUMBER,
    show_default=True,
    help="Number of pseudo-topics, or of sentences for the likelihood.",
)
@measure_option
@way_option("ascent")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the sample of sentences."
)
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
    """Estimate a model's parameters without topics or judgements.

    Topics are generated from a sample of the collection's sentences: half of their words are unrelated, the
    others are from the sentence or its surroundings. Then every setting is tried on them, as in esr tune.

    \b
    Example:
      esr estimate --index my-index -o estimated.json
      esr search "harbour strike" --index my-index --ranking estimated.json
    """
    if output:
        check_output(output)
    grid = build_grid(ranking, grid_texts)
    settings = grids.expand(ranking, grid)
    with esr.open(where) as searcher:
        if source == LIKELIHOOD:
            estimate = _estimate_by_likelihood(searcher, settings, number, seed)
        else:
            tasks = pseudo_topics.generate_tasks(searcher.index, number, seed)
            with count_topics() as tick:
                best = train(Tuner(searcher, tasks, measure), ranking, grid, way, tick)
            estimate = {"ranking": best.ranking.as_dict(), "topics": len(tasks), "measure": measure}
            estimate |= {"figure": float(best.figures.mean()), "settings": len(best.tried)}
    estimate["from"] = source
    if output:
        save_ranking(output, estimate["ranking"])
    click.echo(json.dumps(estimate, indent=1) if as_json else _format(estimate))


def _estimate_by_likelihood(
    searcher: Searcher, settings: list[Ranking], number: int, seed: int
) -> dict[str, Any]:
    likelihoods = likelihood.compute_likelihoods(searcher.index, settings, number, seed)
    best = int(np.argmax(likelihoods))
    estimate = {"ranking": settings[best].as_dict(), "topics": number, "settings": len(settings)}
    return estimate | {"measure": "log p(word)", "figure": float(likelihoods[best])}


def _format(estimate: dict[str, Any]) -> str:
    unit = "pseudo-topics" if estimate["from"] == PSEUDO_TOPICS else "sentences"
    return (
        f"best of {estimate['settings']:,} settings: {format_ranking(estimate['ranking'])}\n"
        f"{estimate['measure']} {estimate['figure']:.4f} on {estimate['topics']:,} {unit} of the collection"
    )
