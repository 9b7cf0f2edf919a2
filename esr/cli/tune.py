"""`esr tune`: a model's parameters from judgements."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

import esr
from esr.cli import options
from esr.cli.output import check
from esr.cli.tuned import counting, grid_of, grid_option, measure_option, save, setting, way_option
from esr.errors import UsageError
from esr.evaluation import qrels as judgements
from esr.evaluation import restrict as restrictions
from esr.evaluation import topics as topic_files
from esr.evaluation.topic import TITLE
from esr.evaluation.tuning import grid as grids
from esr.evaluation.tuning.curves import left_over
from esr.evaluation.tuning.curves import parse as parse_training
from esr.evaluation.tuning.figures import Tuner
from esr.evaluation.tuning.tasks import Tasks, make
from esr.evaluation.tuning.training import check_apart, cross_validate, train
from esr.extras import require
from esr.ranking.ranking import Ranking


@click.command()
@click.argument("topics", type=options.FILE)
@click.argument("qrels", type=options.FILE)
@options.index
@options.ranking
@grid_option
@click.option(
    "--train",
    "train_texts",
    multiple=True,
    metavar="FORM:FEATURE[:OPTION=VALUE...]",
    help="Train a curve, as floe:pos or indep:len:delta=1, over the best setting. May be repeated.",
)
@measure_option
@way_option("grid")
@click.option("--folds", type=click.IntRange(2), help="Cross-validate over this many parts of the topics.")
@click.option(
    "--groups", type=options.FILE, help="Lines of qid<TAB>group: a group is never cut by the folds."
)
@click.option("--test-topics", type=options.FILE, help="Topics to test on, others than those trained on.")
@click.option("--test-qrels", type=options.FILE, help="Their judgements.")
@click.option("--test-index", help="Their index, if it is another.")
@click.option("--test-on-training", is_flag=True, help="Test on topics that were trained on all the same.")
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

    Each topic's candidates are gathered once; every setting is then arithmetic on them. The figures are
    those that esr run and esr evaluate give. A feature or boost without a weight gets one from a grid;
    grids call it subj.w or variants.w.

    \b
    Example:
      esr tune topics.tsv qrels.txt --index my-index --model 2si --context document -o best.json
      esr tune topics.tsv qrels.txt --index my-index --model dir --grid mu=5,10,20,40 --folds 5
      esr tune topics.tsv qrels.txt --index my-index --model tfisf --feature len:log --train floe:position
    """
    if output:
        check(output, topics, qrels, restrict, groups, test_topics, test_qrels)
    curves = list(map(parse_training, train_texts))
    if curves:
        require("--train", "scipy")
    grid = grid_of(ranking, grid_texts, wanted=not curves)
    every = grids.settings(ranking, grid)
    training = _tasks(topics, qrels, field, restrict)
    testing = _testing(test_topics, test_qrels, field)
    if testing and not test_on_training and not test_index:
        check_apart(training.ready, testing.ready)
    found: dict[str, Any] = {"measure": measure, "topics": len(training.ready), "settings": len(every)}
    with esr.open(where) as searcher, counting() as tick:
        tuner = Tuner(searcher, training.ready, measure, depth)
        best = train(tuner, ranking, grid, way, tick, curves)
        found |= {"ranking": best.ranking.as_dict(), "training": float(best.figures.mean())}
        found["tried"] = [{**grids.values_of(tried), measure: figure} for tried, figure in best.tried]
        if curves:
            found["left"] = left_over(searcher, training.ready, best.ranking, curves)
        if folds:
            held_together = topic_files.kinds(groups) if groups else {}
            validated = cross_validate(tuner, ranking, grid, way, folds, held_together, tick, curves)
            found["folds"] = [grids.values_of(chosen) for chosen in validated.settings]
            found["cross_validated"] = float(validated.figures.mean())
    if testing:
        with esr.open(test_index or where) as searcher:
            figures = Tuner(searcher, testing.ready, measure, depth).table([best.ranking])
        found |= {"test": float(figures.mean()), "test_topics": len(testing.ready)}
        found["tested_on_training_topics"] = test_on_training
    if output:
        save(output, found["ranking"])
    if training.unjudged:
        click.echo(f"{len(training.unjudged)} topics have nothing relevant and are left out", err=True)
    click.echo(json.dumps(found, indent=1) if as_json else _text(found))


def _tasks(topics: Path, qrels: Path, field: str, restrict: Path | None) -> Tasks:
    allowed = restrictions.read(restrict) if restrict else None
    return make(topic_files.read(topics), judgements.read(qrels), field=field, restrictions=allowed)


def _testing(topics: Path | None, qrels: Path | None, field: str) -> Tasks | None:
    if topics is None and qrels is None:
        return None
    if topics is None or qrels is None:
        raise UsageError("--test-topics and --test-qrels go together: give both")
    return _tasks(topics, qrels, field, None)


def _text(found: dict[str, Any]) -> str:
    """The outcome in lines. What was trained on is called so."""
    measure = found["measure"]
    lines = [
        f"best of {len(found['tried']):,} settings: {setting(found['ranking'])}",
        f"{measure} {found['training']:.4f} on the {found['topics']:,} topics that it was trained on",
    ]
    lines += [
        f"FLOE of {each['feature']}, mean distance from 0: "
        f"{each['before']:.4f} before, {each['after']:.4f} after"
        for each in found.get("left", ())
    ]
    if "cross_validated" in found:
        parts = len(found["folds"])
        lines.append(
            f"{measure} {found['cross_validated']:.4f} on topics left out of training, {parts} folds"
        )
    if "test" in found:
        note = " (trained on as well: this is no test)" if found["tested_on_training_topics"] else ""
        lines.append(f"{measure} {found['test']:.4f} on {found['test_topics']:,} test topics{note}")
    return "\n".join(lines)
