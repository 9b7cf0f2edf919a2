"""`esr tune`: tunes a model's parameters on judgements."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

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
    warn_of_unjudged,
    way_option,
)
from esr.errors import UsageError
from esr.evaluation import qrels as judgements
from esr.evaluation import restrictions
from esr.evaluation import topics as topic_files
from esr.evaluation.topic import TITLE
from esr.evaluation.tuning import grid as grids
from esr.evaluation.tuning.curves import measure_residuals, parse_training
from esr.evaluation.tuning.tasks import TaskSet, build_tasks
from esr.evaluation.tuning.training import check_disjoint, cross_validate, train
from esr.evaluation.tuning.tuner import Tuner
from esr.extras import require
from esr.ranking.ranking import Ranking


@click.command()
@click.argument("topics", type=options.FILE)
@click.argument("qrels", type=options.FILE)
@options.index
@ranking_options
@grid_option
@click.option(
    "--train",
    "train_texts",
    multiple=True,
    metavar="FORM:FEATURE[:OPTION=VALUE...]",
    help="Train a curve, such as floe:pos or indep:len:delta=1, on the best setting. May be repeated.",
)
@measure_option
@way_option("grid")
@click.option("--folds", type=click.IntRange(2), help="Cross-validate with this number of folds.")
@click.option("--groups", type=options.FILE, help="Lines of qid<TAB>group: no group is split across folds.")
@click.option(
    "--test-topics", type=options.FILE, help="Topics to test on, distinct from the training topics."
)
@click.option("--test-qrels", type=options.FILE, help="Judgements of the test topics.")
@click.option("--test-index", help="Index of the test topics, if it is another one.")
@click.option("--test-on-training", is_flag=True, help="Allow test topics that are training topics.")
@click.option("--field", default=TITLE, show_default=True, help="Field of the topics to search for.")
@click.option(
    "--restrict", type=options.FILE, help="Lines of qid<TAB>document id: rank only these documents."
)
@click.option("-k", "depth", type=click.IntRange(1), default=1000, show_default=True, help="Depth of a run.")
@click.option("-o", "--output", type=options.FILE, help="Write the best ranking to this file, for --ranking.")
@options.as_json
def tune(
    topics: Path,
    qrels: Path,
    where: str,
    ranking: Ranking,
    grid_texts: tuple[str, ...],
    train_texts: tuple[str, ...],
    measure: str,
    way: str,
    folds: int | None,
    groups: Path | None,
    test_topics: Path | None,
    test_qrels: Path | None,
    test_index: str | None,
    test_on_training: bool,
    field: str,
    restrict: Path | None,
    depth: int,
    output: Path | None,
    as_json: bool,
) -> None:
    """Find a model's best parameters on topics with judgements.

    Each topic's candidates are retrieved once; every setting is then computed from them. The figures are
    those of esr run and esr evaluate. A feature or boost without a weight gets one from a grid; its name in
    a grid is, for example, subj.w or variants.w.

    \b
    Example:
      esr tune topics.tsv qrels.txt --index my-index --model 2si --context document -o best.json
      esr tune topics.tsv qrels.txt --index my-index --model dir --grid mu=5,10,20,40 --folds 5
      esr tune topics.tsv qrels.txt --index my-index --model tfisf --feature len:log --train floe:position
    """
    if output:
        check_output(output, topics, qrels, restrict, groups, test_topics, test_qrels)
    curves = list(map(parse_training, train_texts))
    if curves:
        require("--train", "scipy")
    grid = build_grid(ranking, grid_texts, is_required=not curves)
    settings = grids.expand(ranking, grid)
    training = _read_tasks(topics, qrels, field, restrict)
    testing = _read_test_tasks(test_topics, test_qrels, field)
    if testing and not test_on_training and not test_index:
        check_disjoint(training.ready, testing.ready)
    outcome: dict[str, Any] = {
        "measure": measure,
        "topics": len(training.ready),
        "settings": len(settings),
    }
    with esr.open(where) as searcher, count_topics() as tick:
        tuner = Tuner(searcher, training.ready, measure, depth)
        best = train(tuner, ranking, grid, way, tick, curves)
        outcome |= {"ranking": best.ranking.as_dict(), "training": float(best.figures.mean())}
        outcome["tried"] = [
            {**grids.parameter_values(tried), measure: figure} for tried, figure in best.tried
        ]
        if curves:
            outcome["left"] = measure_residuals(searcher, training.ready, best.ranking, curves)
        if folds:
            topic_groups = topic_files.read_kinds(groups) if groups else {}
            validated = cross_validate(tuner, ranking, grid, way, folds, topic_groups, tick, curves)
            outcome["folds"] = [grids.parameter_values(setting) for setting in validated.settings]
            outcome["cross_validated"] = float(validated.figures.mean())
    if testing:
        with esr.open(test_index or where) as searcher:
            figures = Tuner(searcher, testing.ready, measure, depth).compute_figures([best.ranking])
        outcome |= {"test": float(figures.mean()), "test_topics": len(testing.ready)}
        outcome["tested_on_training_topics"] = test_on_training
    if output:
        save_ranking(output, outcome["ranking"])
    warn_of_unjudged(training)
    click.echo(json.dumps(outcome, indent=1) if as_json else _format(outcome))


def _read_tasks(topics: Path, qrels: Path, field: str, restrict: Path | None) -> TaskSet:
    all_topics = topic_files.read(topics)
    allowed = restrictions.choose(restrict, all_topics)
    return build_tasks(all_topics, judgements.read(qrels), field=field, restrictions=allowed)


def _read_test_tasks(topics: Path | None, qrels: Path | None, field: str) -> TaskSet | None:
    if topics is None and qrels is None:
        return None
    if topics is None or qrels is None:
        raise UsageError("--test-topics and --test-qrels need each other: give both or neither")
    return _read_tasks(topics, qrels, field, None)


def _format(outcome: dict[str, Any]) -> str:
    """The outcome in lines, which say where a figure is for the training topics."""
    measure = outcome["measure"]
    lines = [
        f"best of {len(outcome['tried']):,} settings: {format_ranking(outcome['ranking'])}",
        f"{measure} {outcome['training']:.4f} on the {outcome['topics']:,} training topics",
    ]
    lines += [
        f"FLOE of {residual['feature']}, mean distance from 0: "
        f"{residual['before']:.4f} before, {residual['after']:.4f} after"
        for residual in outcome.get("left", ())
    ]
    if "cross_validated" in outcome:
        folds = len(outcome["folds"])
        lines.append(f"{measure} {outcome['cross_validated']:.4f} on held-out topics, {folds} folds")
    if "test" in outcome:
        note = " (also training topics: not a valid test)" if outcome["tested_on_training_topics"] else ""
        lines.append(f"{measure} {outcome['test']:.4f} on {outcome['test_topics']:,} test topics{note}")
    return "\n".join(lines)
