"""`esr report`: write an evaluation as one page of tables and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from esr.lab.commands.arguments import LAB
from esr.lab.commands.evaluate import Inputs, parse_measures, read_inputs
from esr.lab.results import RunEvaluation, evaluate_runs
from esr.lab.tuner import build_tasks
from esr.plugin import EsrError, UsageError
from esr.plugin.provisional import (
    Ranking,
    Topic,
    add_arguments,
    check_output,
    collect_options,
    count_topics,
    open_output,
    open_searcher,
    ranking_options,
    read_topic_kinds,
    read_topics,
    require,
    split_fields,
)

if TYPE_CHECKING:
    from esr.lab.report.moves import TopicMoves
    from esr.lab.report.pictures import Picture
    from esr.lab.tuner import Task
    from esr.plugin.provisional import Searcher


_DEFAULT_MEASURE = "AP"


class ReportOptions(Struct, frozen=True):
    """What `esr report` puts on its page."""

    baseline: str | None
    measure_texts: tuple[str, ...]
    by: str | None
    title: str
    pictures: Path | None
    topics_file: str | None
    curves: tuple[str, ...]
    field: str
    restrict: Path | None


@click.command()
@add_arguments(LAB, "report")
@ranking_options
@collect_options(ReportOptions)
def report(
    qrels_file: str,
    run_files: tuple[str, ...],
    output: str,
    options: ReportOptions,
    where: str | None,
    ranking: Ranking,
) -> None:
    """Write an evaluation as one HTML page.

    It has tables and pictures, and needs no other file. The files are those of esr evaluate. The page always
    has the measures, the curves of precision and recall, and the weight of an unseen query term in each
    model; options add the rest.

    \b
    Example:
      esr report qrels.txt 2si.run bm25.run --baseline tfisf.run -o report.html
      esr report qrels.txt 2si.run -o report.html --index my-index --topics topics.tsv --model 2si
    """
    require("esr report", "matplotlib", "ir_measures", "scipy")
    check_output(
        output, qrels_file, *run_files, options.baseline, options.by, options.topics_file, options.restrict
    )
    names = parse_measures(options.measure_texts)
    if options.topics_file and not where:
        raise UsageError("--topics needs --index: name the index to search")
    if not options.topics_file and (
        ranking.as_dict() != Ranking().as_dict() or options.restrict or options.curves
    ):
        raise UsageError("a model, --curves and --restrict need a search: give --index and --topics too")
    kinds = read_topic_kinds(options.by) if options.by else None
    data = read_inputs(qrels_file, run_files, options.baseline, kinds)
    for note in data.notes:
        click.echo(note, err=True)
    results = evaluate_runs(names, data.qrels, data.runs, baseline=data.baseline, kinds=kinds)
    from esr.lab.report import page  # deferred: it imports matplotlib
    from esr.lab.report.moves import read_texts, render_moves

    measure = _DEFAULT_MEASURE if _DEFAULT_MEASURE in names else names[0]
    drawings, moves = _draw_runs(data, results, measure)
    texts: Mapping[str, str] = {}
    all_topics = read_topics(options.topics_file) if options.topics_file else None
    if where:
        with open_searcher(where) as searcher:
            drawings += _draw_index(
                searcher, data, all_topics, options.field, options.restrict, ranking, options.curves
            )
            texts = read_texts(searcher.index, moves)
    drawings += _draw_models()
    moved = render_moves(
        moves, measure, data.baseline or "", _queries(all_topics or (), options.field), texts
    )
    text = page.render(page.ReportPage(options.title, results, drawings, data.notes, moved))
    try:
        if options.pictures:
            _write_pictures(options.pictures, drawings)
    except OSError as error:
        raise EsrError(f"cannot write {error.filename or options.pictures}: {error.strerror}") from error
    with open_output(output) as file:
        file.write(text)
    if output != "-":
        click.echo(f"wrote {output}")


def _draw_runs(
    data: Inputs, results: list[RunEvaluation], measure: str
) -> tuple[list[Picture], list[TopicMoves]]:
    from esr.lab.report.gains import build_gains, compute_gains
    from esr.lab.report.moves import find_moves
    from esr.lab.report.precision_recall import build_precision_recall, compute_curves

    drawings = [build_precision_recall(compute_curves(data.qrels, data.runs))]
    if data.baseline is None or len(results) < 2:
        return drawings, []
    gains = compute_gains(results, measure)
    drawings.append(build_gains(gains, measure, data.baseline))
    return drawings, find_moves(gains, results, measure, data.qrels, data.runs)


def _queries(all_topics: Iterable[Topic], field: str) -> dict[str, str]:
    """The queries of the topics that have the field."""
    names = split_fields(field)
    return {
        topic.id: topic.query(field) for topic in all_topics if any(topic.fields.get(name) for name in names)
    }


def _draw_index(
    searcher: Searcher,
    data: Inputs,
    all_topics: Sequence[Topic] | None,
    field: str,
    restrict: Path | None,
    ranking: Ranking,
    curves: tuple[str, ...],
) -> list[Picture]:
    from esr.lab.report.lengths import build_lengths, measure_lengths
    from esr.lab.report.parameters import build_feature_curves, estimate_feature_curves, varied_parameters

    drawings = [build_lengths(measure_lengths(searcher.index, data.qrels, data.runs))]
    if all_topics is not None:
        tasks = build_tasks(all_topics, data.qrels, field=field, restrict=restrict).ready
        features = dict.fromkeys([*(f.feature for f in ranking.features), *curves])
        if not varied_parameters(ranking) and not features:
            raise UsageError(f"model {ranking.model!r} has no parameter to vary: leave out --topics")
        if varied_parameters(ranking):
            drawings.append(_draw_sensitivity(searcher, tasks, ranking))
        drawings += [
            build_feature_curves(estimate_feature_curves(searcher, tasks, ranking, feature))
            for feature in features
        ]
    return drawings


def _draw_sensitivity(searcher: Searcher, tasks: list[Task], ranking: Ranking) -> Picture:
    from esr.lab.report.parameters import build_sensitivity, compute_lines, varied_parameters
    from esr.lab.tuner import Tuner

    total = len(tasks) * len(varied_parameters(ranking))
    with count_topics(total) as tick:
        lines = compute_lines(Tuner(searcher, tasks, _DEFAULT_MEASURE), ranking, tick)
    return build_sensitivity(lines, ranking, _DEFAULT_MEASURE)


def _draw_models() -> list[Picture]:
    from esr.lab.report.parameters import build_unseen_terms
    from esr.lab.unseen_terms import compute_weights

    return [build_unseen_terms(compute_weights())]


def _write_pictures(folder: Path, drawings: list[Picture]) -> None:
    from esr.lab.report.pictures import to_png, to_svg

    folder.mkdir(parents=True, exist_ok=True)
    for picture in drawings:
        (folder / f"{picture.name}.svg").write_bytes(to_svg(picture))
        (folder / f"{picture.name}.png").write_bytes(to_png(picture))
