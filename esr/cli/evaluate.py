"""`esr evaluate`: measures runs against judgements, and compares them with a baseline."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

import esr
from esr.cli import options
from esr.cli.measure_options import measures_option, parse_measures
from esr.engines.redact import redact
from esr.errors import UsageError
from esr.evaluation import formatting, qrels, runs, significance, topics
from esr.evaluation.results import evaluate_runs
from esr.evaluation.runs import Run
from esr.extras import require

_MAX_EXAMPLES = 5
_FILE = click.Path(dir_okay=False)


@click.command()
@click.argument("qrels_file", metavar="QRELS", type=_FILE)
@click.argument("run_files", metavar="RUN...", nargs=-1, required=True, type=_FILE)
@measures_option
@click.option(
    "--baseline", type=_FILE, metavar="RUN", help="Test the difference from this run for significance."
)
@click.option(
    "--by",
    type=_FILE,
    metavar="FILE",
    help='Also show figures by type of topic. FILE has lines of "qid<TAB>type", or topics with types.',
)
@click.option("--per-topic", is_flag=True, help="Also show the figures of every topic.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: run, type, topic, measure, value.")
@options.as_json
@click.option(
    "--index", "where", metavar="WHERE", help="Also report which judged sentences this index lacks."
)
@click.option(
    "--resamples",
    type=click.IntRange(100, 10_000_000),
    default=significance.RESAMPLES,
    show_default=True,
    help="Number of random permutations of the randomisation test.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=significance.SEED,
    show_default=True,
    help="Of its random numbers.",
)
def evaluate(
    qrels_file: str,
    run_files: tuple[str, ...],
    measure_texts: tuple[str, ...],
    baseline: str | None,
    by: str | None,
    per_topic: bool,
    as_csv: bool,
    as_json: bool,
    where: str | None,
    resamples: int,
    seed: int,
) -> None:
    """Evaluate TREC runs of esr or other systems.

    QRELS has lines of "qid 0 sentence_id grade", or of "N12 docno:num" as in the Novelty track. A topic
    that a run lacks scores 0. Files may be compressed with gzip; - is standard input.

    \b
    Example:
      esr evaluate qrels.txt 2si.run
      esr evaluate qrels.txt 2si.run bm25.run -m "AP P@10" --baseline tfisf.run
    """
    if as_csv and as_json:
        raise UsageError("--csv and --json exclude each other: leave one out")
    require("esr evaluate", "ir_measures", "scipy")
    names = parse_measures(measure_texts)
    kinds = topics.read_kinds(by) if by else None
    judgements = qrels.read(qrels_file)
    paths = runs.remove_duplicates([*([baseline] if baseline else []), *run_files])
    loaded_runs = {path: runs.read(path) for path in paths}
    display_names = runs.display_names(loaded_runs)
    _warn_of_judgements(qrels_file, judgements, where)
    for path, run in loaded_runs.items():
        _warn_of_topics(path, run, judgements)
    if kinds is not None:
        _warn(f"{by} has no type for", [t for t in judgements if t not in kinds], len(judgements))
    results = evaluate_runs(
        names,
        judgements,
        {display_names[path]: run.scores for path, run in loaded_runs.items()},
        baseline=display_names[baseline] if baseline else None,
        kinds=kinds,
        resamples=resamples,
        seed=seed,
    )
    if as_json:
        click.echo(json.dumps(formatting.to_json(results, per_topic=per_topic), indent=1, ensure_ascii=False))
    elif as_csv:
        click.echo(formatting.to_csv(results, per_topic=per_topic), nl=False)
    else:
        click.echo(formatting.to_table(results, per_topic=per_topic))


def _warn_of_judgements(path: str, judgements: qrels.Qrels, where: str | None) -> None:
    without = qrels.without_relevant(judgements)
    _warn(f"{path} has no relevant sentence for", without, len(judgements), ", which score 0")
    if where is not None:
        with esr.open(where) as searcher:
            unknown = qrels.unknown_sentences(judgements, searcher.index)
        total = len({sentence for grades in judgements.values() for sentence in grades})
        _warn(f"{redact(where)} lacks", unknown, total, unit="judged sentences")


def _warn_of_topics(path: str, run: Run, judgements: qrels.Qrels) -> None:
    missing = [topic for topic in judgements if topic not in run.scores]
    _warn(f"{path} lacks", missing, len(judgements), ", which score 0")
    unjudged = [topic for topic in run.scores if topic not in judgements]
    _warn(f"{path}: no judgements for", unjudged, len(run.scores), ", which are ignored")


def _warn(problem: str, ids: Sequence[str], total: int, effect: str = "", unit: str = "topics") -> None:
    """Report topics or sentences with a problem, the first few by name."""
    if ids:
        examples = ", ".join(ids[:_MAX_EXAMPLES]) + (", …" if len(ids) > _MAX_EXAMPLES else "")
        click.echo(f"{problem} {len(ids):,} of {total:,} {unit}{effect}: {examples}", err=True)
