"""`esr evaluate`: runs against judgements, and against a baseline."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

import esr
from esr.cli import options
from esr.engines.redact import redacted
from esr.errors import UsageError
from esr.evaluation import measures, qrels, runs, showing, significance, topics
from esr.evaluation.results import evaluate_runs
from esr.evaluation.runs import Run
from esr.extras import require

_SHOWN = 5
_FILE = click.Path(dir_okay=False)


@click.command()
@click.argument("qrels_file", metavar="QRELS", type=_FILE)
@click.argument("run_files", metavar="RUN...", nargs=-1, required=True, type=_FILE)
@options.measures
@click.option("--baseline", type=_FILE, metavar="RUN", help="Compare with this run: is the difference luck?")
@click.option(
    "--by",
    type=_FILE,
    metavar="FILE",
    help='Also by type of topic. FILE has lines of "qid<TAB>type", or topics with types.',
)
@click.option("--per-topic", is_flag=True, help="Also the figures of every topic.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV: run, type, topic, measure, value.")
@options.as_json
@click.option(
    "--index", "where", metavar="WHERE", help="Also say which judged sentences this index does not hold."
)
@click.option(
    "--resamples",
    type=click.IntRange(100, 10_000_000),
    default=significance.RESAMPLES,
    show_default=True,
    help="Random swaps of the randomisation test.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=significance.SEED,
    show_default=True,
    help="Where its random numbers begin.",
)
def evaluate(
    qrels_file: str,
    run_files: tuple[str, ...],
    wanted: tuple[str, ...],
    baseline: str | None,
    by: str | None,
    per_topic: bool,
    as_csv: bool,
    as_json: bool,
    where: str | None,
    resamples: int,
    seed: int,
) -> None:
    """Evaluate TREC runs, of esr or of other systems.

    QRELS has lines of "qid 0 sentence_id grade", or of "N12 docno:num" as in the Novelty track. A topic
    that a run lacks scores 0. Files may be packed with gzip; - is standard input.

    \b
    Example:
      esr evaluate qrels.txt 2si.run
      esr evaluate qrels.txt 2si.run bm25.run -m "AP P@10" --baseline tfisf.run
    """
    if as_csv and as_json:
        raise UsageError("give --csv or --json, not both")
    require("esr evaluate", "ir_measures", "scipy")
    names = measures.names(" ".join(wanted))
    if not names:
        raise UsageError("no measure is named: give one, as -m AP")
    for name in names:
        measures.parse(name)  # before long files are read
    kinds = topics.kinds(by) if by else None
    judged = qrels.read(qrels_file)
    paths = runs.distinct([*([baseline] if baseline else []), *run_files])
    read = {path: runs.read(path) for path in paths}
    called = runs.names(read)
    _say_unjudged(qrels_file, judged, where)
    for path, run in read.items():
        _say_unmatched(path, run, judged)
    if kinds is not None:
        _say(f"{by} has no type for", [topic for topic in judged if topic not in kinds], len(judged))
    results = evaluate_runs(
        names,
        judged,
        {called[path]: run.scores for path, run in read.items()},
        baseline=called[baseline] if baseline else None,
        kinds=kinds,
        resamples=resamples,
        seed=seed,
    )
    if as_json:
        click.echo(json.dumps(showing.as_json(results, per_topic=per_topic), indent=1, ensure_ascii=False))
    elif as_csv:
        click.echo(showing.as_csv(results, per_topic=per_topic), nl=False)
    else:
        click.echo(showing.as_table(results, per_topic=per_topic))


def _say_unjudged(path: str, judged: qrels.Qrels, where: str | None) -> None:
    _say(f"{path} has no relevant sentence for", qrels.without_relevant(judged), len(judged), ", all score 0")
    if where is not None:
        with esr.open(where) as searcher:
            unknown = qrels.unknown_sentences(judged, searcher.index)
        of = len({sentence for grades in judged.values() for sentence in grades})
        _say(f"{redacted(where)} does not hold", unknown, of, kind="judged sentences")


def _say_unmatched(path: str, run: Run, judged: qrels.Qrels) -> None:
    _say(f"{path} lacks", [t for t in judged if t not in run.scores], len(judged), ", which score 0")
    unjudged = [topic for topic in run.scores if topic not in judged]
    _say(f"{path} answers without judgements", unjudged, len(run.scores), ", which are passed over")


def _say(what: str, ids: Sequence[str], of: int, then: str = "", kind: str = "topics") -> None:
    """Tell of topics or sentences that are not as they should be, the first few by name."""
    if ids:
        first = ", ".join(ids[:_SHOWN]) + (", …" if len(ids) > _SHOWN else "")
        click.echo(f"{what} {len(ids):,} of {of:,} {kind}{then}: {first}", err=True)
