"""Commands that find the best ranking: `esr tune` chooses parameters on judgements, `esr estimate` from the
collection alone, and `esr learn` combines many signals. `esr signals` writes signals for other learners, and
`esr import-model` reads what these have learned.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np
from msgspec import Struct

from esr.lab.commands.arguments import LAB
from esr.lab.cross_validation import check_disjoint, cross_validate, train
from esr.lab.curves import measure_residuals, parse_training
from esr.lab.estimation import LIKELIHOOD, PSEUDO_TOPICS, compute_likelihoods, generate_tasks
from esr.lab.grid import Grid, build_default_grid, expand_grid, parse_grid, read_parameters
from esr.lab.judgements import read_qrels
from esr.lab.learn import LearningOptions, Outcome, count_steps, learn, to_dict, to_text
from esr.lab.learners import (
    FORMATS,
    Description,
    read_description,
    read_model,
    write_signals,
)
from esr.lab.training_data import (
    collect_signals,
    list_signals,
    parse_measure,
    select_signals,
)
from esr.lab.tuner import DEPTH, Task, TaskSet, Tuner, Workers, build_tasks
from esr.plugin import UsageError, index_option
from esr.plugin.provisional import (
    Ranking,
    Searcher,
    add_arguments,
    as_json_option,
    check_output,
    collect_options,
    count,
    count_topics,
    open_output,
    open_searcher,
    optional_index_option,
    print_entries,
    ranking_options,
    read_topic_kinds,
    read_topics,
    require,
    signal_types,
)


@contextmanager
def open_tuner(
    where: str, searcher: Searcher, tasks: Sequence[Task], measure: str, depth: int, workers: int
) -> Iterator[Tuner]:
    """A tuner on the tasks, with this number of processes."""
    if workers == 1:
        yield Tuner(searcher, tasks, measure, depth)
        return
    with Workers(where, workers) as processes:
        yield Tuner(searcher, tasks, measure, depth, workers=processes)


def build_grid(ranking: Ranking, texts: Sequence[str], *, is_required: bool = True) -> Grid:
    """The grid of the options, or else the default grid. Raises UsageError if a required grid is empty."""
    grid = parse_grid(texts) or build_default_grid(ranking)
    if is_required and not grid:
        raise UsageError(f"{ranking.model} has no parameter left to vary: name one, with values, by --grid")
    return grid


def save_ranking(output: Path, ranking: Mapping[str, Any]) -> None:
    """Write the ranking to a file that --ranking reads."""
    with open_output(output) as file:
        file.write(json.dumps(ranking, indent=1) + "\n")


def warn_of_unjudged(tasks: TaskSet) -> None:
    """Report how many topics cannot be used for tuning."""
    if tasks.unjudged:
        click.echo(f"{count(len(tasks.unjudged), 'topic', 'have')} no relevant sentence (left out)", err=True)


def format_ranking(data: Mapping[str, Any]) -> str:
    """A ranking's model, parameters and trained curves on one line."""
    ranking = Ranking.from_dict(data)
    values = (
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in read_parameters(ranking).items()
    )
    curves = (f"{f.form}({f.feature})" for f in ranking.features if f.curve is not None)
    return " ".join([ranking.model, *values, *curves])


class TuneOptions(Struct, frozen=True):
    """How `esr tune` tries settings, and on which topics it tests the best."""

    grid_texts: tuple[str, ...]
    train_texts: tuple[str, ...]
    measure: str
    way: str
    folds: int | None
    groups: Path | None
    test_topics: Path | None
    test_qrels: Path | None
    test_index: str | None
    test_on_training: bool
    field: str
    restrict: Path | None
    depth: int
    workers: int


@click.command()
@add_arguments(LAB, "tune")
@index_option
@ranking_options
@as_json_option
@collect_options(TuneOptions)
def tune(
    topics: Path,
    qrels: Path,
    where: str,
    ranking: Ranking,
    options: TuneOptions,
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
        check_output(
            output, topics, qrels, options.restrict, options.groups, options.test_topics, options.test_qrels
        )
    curves = list(map(parse_training, options.train_texts))
    if curves:
        require("--train", "scipy")
    grid = build_grid(ranking, options.grid_texts, is_required=not curves)
    settings = expand_grid(ranking, grid)
    training = _read_tasks(topics, qrels, options.field, options.restrict)
    testing = _read_test_tasks(options.test_topics, options.test_qrels, options.field)
    if testing and not options.test_on_training and not options.test_index:
        check_disjoint(training.ready, testing.ready)
    outcome: dict[str, Any] = {
        "measure": options.measure,
        "topics": len(training.ready),
        "settings": len(settings),
    }
    with (
        open_searcher(where) as searcher,
        open_tuner(where, searcher, training.ready, options.measure, options.depth, options.workers) as tuner,
        count_topics(len(training.ready) if options.way == "grid" and not options.folds else None) as tick,
    ):
        best = train(tuner, ranking, grid, options.way, tick, curves)
        outcome |= {"ranking": best.ranking.as_dict(), "training": float(best.figures.mean())}
        outcome["tried"] = [
            {**read_parameters(tried), options.measure: figure} for tried, figure in best.tried
        ]
        if curves:
            outcome["left"] = measure_residuals(searcher, training.ready, best.ranking, curves)
        if options.folds:
            topic_groups = read_topic_kinds(options.groups) if options.groups else {}
            validated = cross_validate(
                tuner, ranking, grid, options.way, options.folds, topic_groups, tick, curves
            )
            outcome["folds"] = [read_parameters(setting) for setting in validated.settings]
            outcome["cross_validated"] = float(validated.figures.mean())
    if testing:
        outcome |= _test(options.test_index or where, testing.ready, best.ranking, options)
    if output:
        save_ranking(output, outcome["ranking"])
    warn_of_unjudged(training)
    click.echo(json.dumps(outcome, indent=1) if as_json else _format(outcome))


def _test(where: str, tasks: Sequence[Task], ranking: Ranking, options: TuneOptions) -> dict[str, Any]:
    """What a ranking reaches on the tasks of a test."""
    with open_searcher(where) as searcher:
        figures = Tuner(searcher, tasks, options.measure, options.depth).compute_figures([ranking])
    outcome: dict[str, Any] = {"test": float(figures.mean()), "test_topics": len(tasks)}
    return outcome | {"tested_on_training_topics": options.test_on_training}


def _read_tasks(topics: Path, qrels: Path, field: str, restrict: Path | None) -> TaskSet:
    return build_tasks(read_topics(topics), read_qrels(qrels), field=field, restrict=restrict)


def _read_test_tasks(topics: Path | None, qrels: Path | None, field: str) -> TaskSet | None:
    if topics is None and qrels is None:
        return None
    if topics is None or qrels is None:
        raise UsageError("--test-topics and --test-qrels need each other: give both or neither")
    return _read_tasks(topics, qrels, field, None)


def _format(outcome: dict[str, Any]) -> str:
    """The outcome as lines of text, which mark figures on training topics."""
    measure = outcome["measure"]
    lines = [
        f"best of {count(len(outcome['tried']), 'setting')}: {format_ranking(outcome['ranking'])}",
        f"{measure} {outcome['training']:.4f} on {count(outcome['topics'], 'training topic')}",
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
        lines.append(
            f"{measure} {outcome['test']:.4f} on {count(outcome['test_topics'], 'test topic')}{note}"
        )
    return "\n".join(lines)


# esr estimate


class EstimateOptions(Struct, frozen=True):
    """How `esr estimate` makes topics and tries settings on them."""

    grid_texts: tuple[str, ...]
    source: str
    number: int
    measure: str
    way: str
    workers: int
    seed: int


@click.command()
@add_arguments(LAB, "estimate")
@index_option
@ranking_options
@as_json_option
@collect_options(EstimateOptions)
def estimate(
    where: str,
    ranking: Ranking,
    options: EstimateOptions,
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
    grid = build_grid(ranking, options.grid_texts)
    settings = expand_grid(ranking, grid)
    with open_searcher(where) as searcher:
        if searcher.index.description.is_by_language:
            raise UsageError(
                f"{where} has statistics for each language: estimate parameters from an index of one "
                "language, loaded with its own analyzer"
            )
        if options.source == LIKELIHOOD:
            estimate = _estimate_by_likelihood(searcher, settings, options.number, options.seed)
        else:
            tasks = generate_tasks(searcher.index, options.number, options.seed)
            with (
                open_tuner(where, searcher, tasks, options.measure, DEPTH, options.workers) as tuner,
                count_topics() as tick,
            ):
                best = train(tuner, ranking, grid, options.way, tick)
            estimate = {"ranking": best.ranking.as_dict(), "topics": len(tasks), "measure": options.measure}
            estimate |= {"figure": float(best.figures.mean()), "settings": len(best.tried)}
    estimate["from"] = options.source
    if output:
        save_ranking(output, estimate["ranking"])
    click.echo(json.dumps(estimate, indent=1) if as_json else _format_estimate(estimate))


def _estimate_by_likelihood(
    searcher: Searcher, settings: list[Ranking], number: int, seed: int
) -> dict[str, Any]:
    likelihoods = compute_likelihoods(searcher.index, settings, number, seed)
    best = int(np.argmax(likelihoods))
    estimate = {"ranking": settings[best].as_dict(), "topics": number, "settings": len(settings)}
    return estimate | {"measure": "log p(word)", "figure": float(likelihoods[best])}


def _format_estimate(estimate: dict[str, Any]) -> str:
    unit = "pseudo-topics" if estimate["from"] == PSEUDO_TOPICS else "sentences"
    return (
        f"best of {count(estimate['settings'], 'setting')}: {format_ranking(estimate['ranking'])}\n"
        f"{estimate['measure']} {estimate['figure']:.4f} on {estimate['topics']:,} {unit} of the collection"
    )


# esr learn


class LearnOptions(Struct, frozen=True):
    """From what `esr learn` learns, and how."""

    learner: str
    texts: tuple[str, ...]
    measure: str
    folds: int
    groups: Path | None
    depth: int
    ablate: str
    seed: int
    field: str
    restrict: Path | None


@click.command("learn")
@add_arguments(LAB, "learn")
@index_option
@ranking_options
@as_json_option
@collect_options(LearnOptions)
def learn_command(
    topics: Path,
    qrels: Path,
    where: str,
    ranking: Ranking,
    options: LearnOptions,
    output: Path | None,
    report: Path | None,
    as_json: bool,
) -> None:
    """Learn a ranking from all signals.

    These are models in their contexts, priors, features and term dependence. The options of the ranking
    define the first stage. linear adds weighted signals to its score: features and priors run in the first
    stage, also in Elasticsearch, and the others in the second. lambdamart reranks the first stage's best
    sentences by regression trees; it needs esr[learn].

    Figures are for held-out topics. Topics with the same words or half of their relevant sentences in common
    are never in both training and test; --group adds others that belong together.

    \b
    Example:
      esr learn topics.tsv qrels.txt --index my-index -o learned.json --report learned.html
      esr learn topics.tsv qrels.txt --index my-index --learner lambdamart --group twins.tsv
      esr learn topics.tsv qrels.txt --index my-index --signals features --signals "2si document"
    """
    for file in (output, report):
        if file:
            check_output(file, topics, qrels, options.groups, options.restrict)
    if report and report.suffix not in (".html", ".json"):
        raise UsageError(f"--report {report}: the file name must end in .html or .json")
    require("esr learn", "ir_measures", "scipy")  # before the long searches
    if options.learner == "lambdamart":
        require("LambdaMART", "lightgbm")
    if report and report.suffix == ".html":
        require("a page of --report", "matplotlib")
    parse_measure(options.measure)
    topic_groups = read_topic_kinds(options.groups) if options.groups else {}
    judgements = read_qrels(qrels)
    tasks = build_tasks(read_topics(topics), judgements, field=options.field, restrict=options.restrict)
    learning = LearningOptions(
        options.learner, options.measure, options.folds, options.seed, options.depth, options.ablate
    )
    with open_searcher(where) as searcher:
        signals = select_signals(list_signals(searcher.index, ranking), options.texts)
        with count_topics() as tick:
            training_data = collect_signals(
                searcher, tasks.ready, judgements, ranking, signals, options.depth, tick
            )
    with count_topics(count_steps(signals, learning), "fits") as advance:
        learned, outcome = learn(training_data, signals, ranking, learning, topic_groups, advance)
    if output:
        save_ranking(output, learned.as_dict())
    if report:
        _write_report(report, outcome)
    warn_of_unjudged(tasks)
    data = {**to_dict(outcome), "ranking": learned.as_dict()}
    click.echo(json.dumps(data, indent=1) if as_json else to_text(outcome))


def _write_report(report: Path, outcome: Outcome) -> None:
    if report.suffix == ".json":
        text = json.dumps(to_dict(outcome), indent=1) + "\n"
    else:
        from esr.lab.report.parameters import render_report  # deferred: it imports matplotlib

        text = render_report(outcome)
    with open_output(report) as file:
        file.write(text)


# Signals for other learners, and their models


class SignalOptions(Struct, frozen=True):
    """Which signals `esr signals` writes, and for which sentences."""

    form: str | None
    texts: tuple[str, ...]
    depth: int
    field: str
    restrict: Path | None


@click.command("signals")
@add_arguments(LAB, "signals")
@optional_index_option
@ranking_options
@as_json_option
@collect_options(SignalOptions)
def signals(
    topics: Path | None,
    qrels: Path | None,
    where: str | None,
    ranking: Ranking,
    options: SignalOptions,
    output: Path | None,
    as_json: bool,
) -> None:
    """List the signals of the second stage.

    They can be added to the scores of a ranking's best sentences. The value of any feature is a signal too,
    as "feature subj".

    With --format, the signals of each topic's best sentences are written to a file, for other learners:
    letor has lines of RankLib and scikit-learn, svmlight those of LightGBM. The options of the ranking define
    the first stage. FILE.signals.json says what the numbers mean; esr import-model needs it.

    \b
    Example:
      esr search "bank fraud" --index my-index --rerank mrf_sdm:0.5
      esr signals topics.tsv qrels.txt --index my-index --format letor -o train.txt
    """
    if options.form is None:
        if topics is not None or output is not None:
            raise UsageError(f"add --format to write signals to a file: {' or '.join(FORMATS)}")
        print_entries((signal.as_dict() for signal in signal_types().values()), as_json)
        return
    if topics is None or qrels is None or where is None or output is None:
        raise UsageError("esr signals --format needs TOPICS, QRELS, --index and -o")
    check_output(output, topics, qrels, options.restrict)
    judgements = read_qrels(qrels)
    tasks = build_tasks(read_topics(topics), judgements, field=options.field, restrict=options.restrict).ready
    with open_searcher(where) as searcher, count_topics() as tick:
        selected = select_signals(list_signals(searcher.index, ranking), options.texts)
        data = collect_signals(searcher, tasks, judgements, ranking, selected, options.depth, tick)
    lines = write_signals(output, options.form, data, Description(ranking, options.depth, selected))
    size = f"{count(lines, 'sentence')} of {count(len(data), 'topic')} with {count(len(selected), 'signal')}"
    click.echo(f"wrote {size} to {output}")


@click.command("import-model")
@add_arguments(LAB, "import-model")
def import_model(model: Path, description: Path, with_first_stage: bool, output: Path) -> None:
    """Convert trees of LightGBM or XGBoost to a ranking.

    MODEL is the JSON of LightGBM's dump_model, or a file model.json of XGBoost's save_model. The ranking has
    plain numbers and needs neither library.

    \b
    Example:
      esr import-model model.json --signals train.txt.signals.json -o learned.json
      esr search "bank fraud" --index my-index --ranking learned.json
    """
    check_output(output, model, description)
    ranking = read_model(model, read_description(description), with_first_stage=with_first_stage)
    save_ranking(output, ranking.as_dict())
    assert ranking.trees is not None
    click.echo(f"wrote a ranking with {len(ranking.trees.trees):,} trees to {output}")
