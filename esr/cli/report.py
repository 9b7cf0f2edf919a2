"""`esr report`: tables and pictures of an evaluation on one page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from tqdm import tqdm

import esr
from esr.cli import options
from esr.cli.output import check, written
from esr.errors import EsrError, UsageError
from esr.evaluation import measures, restrict, topics
from esr.evaluation.report import inputs
from esr.evaluation.report.inputs import Inputs
from esr.evaluation.results import Evaluated, evaluate_runs
from esr.evaluation.topic import TITLE
from esr.evaluation.tuning.tasks import make
from esr.extras import require
from esr.ranking.ranking import Ranking

if TYPE_CHECKING:
    from esr.evaluation.report.picture import Picture
    from esr.evaluation.tuning.figures import Task
    from esr.ranking.searcher import Searcher

_FILE = click.Path(dir_okay=False)
_MAIN = "AP"


@click.command()
@click.argument("qrels_file", metavar="QRELS", type=_FILE)
@click.argument("run_files", metavar="RUN...", nargs=-1, required=True, type=_FILE)
@click.option("-o", "--output", required=True, type=_FILE, help="The HTML page to write; - prints it.")
@click.option("--baseline", type=_FILE, metavar="RUN", help="Compare with this run: marks, gains by topic.")
@options.measures
@click.option(
    "--by", type=_FILE, metavar="FILE", help='Also by type of topic: lines of "qid<TAB>type", or topics.'
)
@click.option("--title", default="Retrieval report", show_default=True, help="What the page is called.")
@click.option("--pictures", type=click.Path(file_okay=False), help="Also write each as PNG and SVG here.")
@click.option(
    "--index", "where", metavar="WHERE", help="Also show how long the sentences at the top of the runs are."
)
@click.option(
    "--topics",
    "topics_file",
    type=_FILE,
    help="With --index: also show how AP depends on each parameter of --model.",
)
@click.option(
    "--curves",
    multiple=True,
    metavar="FEATURE",
    help="With --topics: also what a feature could add, as it does for those of the ranking.",
)
@click.option("--field", default=TITLE, show_default=True, help="Field of the topics to search for.")
@click.option("--restrict", "restrict_file", type=_FILE, help="Lines of qid<TAB>document id to rank.")
@options.ranking
def report(
    qrels_file: str,
    run_files: tuple[str, ...],
    output: str,
    baseline: str | None,
    wanted: tuple[str, ...],
    by: str | None,
    title: str,
    pictures: str | None,
    where: str | None,
    topics_file: str | None,
    curves: tuple[str, ...],
    field: str,
    restrict_file: str | None,
    ranking: Ranking,
) -> None:
    """Put an evaluation on one HTML page, with tables and pictures, that needs no other file.

    The files are those of esr evaluate. There are always the measures, the curves of precision and recall,
    and what an unseen query term weighs in each model; the options add the rest.

    \b
    Example:
      esr report qrels.txt 2si.run bm25.run --baseline tfisf.run -o report.html
      esr report qrels.txt 2si.run -o report.html --index my-index --topics topics.tsv --model 2si
    """
    require("esr report", "matplotlib", "ir_measures", "scipy")
    check(output, qrels_file, *run_files, baseline, by, topics_file, restrict_file)
    names = measures.names(" ".join(wanted))
    if not names:
        raise UsageError("no measure is named: give one, as -m AP")
    for name in names:
        measures.parse(name)
    if topics_file and not where:
        raise UsageError("--topics goes with --index: say where to search")
    if not topics_file and (ranking != Ranking() or restrict_file or curves):
        raise UsageError(
            "a model, --curves and --restrict are for what needs a search: give --index and --topics too"
        )
    kinds = topics.kinds(by) if by else None
    given = inputs.read(qrels_file, run_files, baseline, kinds)
    for note in given.notes:
        click.echo(note, err=True)
    results = evaluate_runs(names, given.qrels, given.runs, baseline=given.baseline, kinds=kinds)
    from esr.evaluation.report import page  # brings matplotlib, which other commands need not wait for

    drawn = _of_runs(given, results, _MAIN if _MAIN in names else names[0])
    if where:
        with esr.open(where) as searcher:
            drawn += _of_index(searcher, given, topics_file, field, restrict_file, ranking, curves)
    drawn += _of_models()
    text = page.html(page.Report(title, results, drawn, given.notes))
    try:
        if pictures:
            _write_pictures(Path(pictures), drawn)
    except OSError as error:
        raise EsrError(f"cannot write {error.filename or pictures}: {error.strerror}") from error
    with written(output) as file:
        file.write(text)
    if output != "-":
        click.echo(f"wrote {output}")


def _of_runs(given: Inputs, results: list[Evaluated], measure: str) -> list[Picture]:
    from esr.evaluation.report import gains, precision_recall

    drawn = [precision_recall.picture(precision_recall.curves(given.qrels, given.runs))]
    if given.baseline is not None and len(results) > 1:
        drawn.append(gains.picture(gains.gains(results, measure), measure, given.baseline))
    return drawn


def _of_index(
    searcher: Searcher,
    given: Inputs,
    topics_file: str | None,
    field: str,
    restrict_file: str | None,
    ranking: Ranking,
    curves: tuple[str, ...],
) -> list[Picture]:
    from esr.evaluation.report import feature_curves, lengths, sensitivity

    drawn = [lengths.picture(lengths.lengths(searcher.index, given.qrels, given.runs))]
    if topics_file is not None:
        known = topics.read(topics_file)
        allowed = None
        if restrict_file is not None:
            of_topics = restrict_file == restrict.FROM_TOPICS
            allowed = restrict.of_topics(known) if of_topics else restrict.read(restrict_file)
        tasks = make(known, given.qrels, field=field, restrictions=allowed).ready
        features = dict.fromkeys([*(each.feature for each in ranking.features), *curves])
        if not sensitivity.varied(ranking) and not features:
            raise UsageError(f"model {ranking.model!r} has no parameter to vary: leave out --topics")
        if sensitivity.varied(ranking):
            drawn.append(_sensitivity(searcher, tasks, ranking))
        drawn += [
            feature_curves.picture(feature_curves.estimated(searcher, tasks, ranking, feature))
            for feature in features
        ]
    return drawn


def _sensitivity(searcher: Searcher, tasks: list[Task], ranking: Ranking) -> Picture:
    from esr.evaluation.report import sensitivity
    from esr.evaluation.tuning.figures import Tuner

    total = len(tasks) * len(sensitivity.varied(ranking))
    with tqdm(total=total, unit=" topics", disable=None, leave=False) as bar:

        def tick(topics: int) -> None:
            bar.update(topics)

        found = sensitivity.lines(Tuner(searcher, tasks, _MAIN), ranking, tick)
    return sensitivity.picture(found, ranking, _MAIN)


def _of_models() -> list[Picture]:
    from esr.evaluation.report import unseen

    return [unseen.picture(unseen.weights())]


def _write_pictures(folder: Path, drawn: list[Picture]) -> None:
    from esr.evaluation.report.picture import png, svg

    folder.mkdir(parents=True, exist_ok=True)
    for picture in drawn:
        (folder / f"{picture.name}.svg").write_bytes(svg(picture))
        (folder / f"{picture.name}.png").write_bytes(png(picture))
