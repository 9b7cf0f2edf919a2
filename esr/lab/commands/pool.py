"""`esr pool` writes what judges are to read, and `esr agreement` says how far two of them agree."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping

import click

from esr.batch import runs
from esr.batch.topics import TITLE, read_topics, split_fields
from esr.cli import options
from esr.cli.output import open_output
from esr.errors import UsageError
from esr.index.contract import Index
from esr.index.login_variables import redact
from esr.lab.measures import Agreement, Pool, make_pool, measure_agreement, read_qrels, unknown_sentences
from esr.lab.results import align_columns
from esr.ranking.searcher import open_searcher

_FILE = click.Path(dir_okay=False)
_MAX_EXAMPLES = 5
_FIELDS = ("previous", "next", "title", "date", "source")
"""What judges see beside the query and the text."""


@click.command()
@click.argument("run_files", metavar="RUN...", nargs=-1, required=True, type=_FILE)
@options.index
@click.option(
    "--depth",
    type=click.IntRange(1, 100_000),
    default=10,
    show_default=True,
    help="The best sentences of each run and topic.",
)
@click.option("--topics", "topics_file", type=_FILE, help="The topics, so that judges see the queries.")
@click.option("--field", default=TITLE, show_default=True, help="Field of the topics, as in esr run.")
@click.option("--qrels", "qrels_file", type=_FILE, help="Leave out the sentences that this file judges.")
@click.option(
    "-o", "--output", required=True, type=click.Path(allow_dash=True), help="The file to write; - prints it."
)
def pool(
    run_files: tuple[str, ...],
    where: str,
    depth: int,
    topics_file: str | None,
    field: str,
    qrels_file: str | None,
    output: str,
) -> None:
    """Write the sentences to judge, from several runs.

    These are the best of each run, each once, in an order that hides runs and ranks. The page `/judge` of esr
    serve reads the file, which has a line of JSON for each sentence: topic, query, sentence_id and text, its
    neighbours (previous, next), and title, date and source of its article.

    \b
    Example:
      esr pool 2si.run bm25.run --depth 10 --topics topics.tsv --index my-index -o pool.jsonl
    """
    split_fields(field)
    inputs = [name for name in (*run_files, topics_file, qrels_file) if name]
    queries = {topic.id: topic.query(field) for topic in read_topics(topics_file)} if topics_file else {}
    judged = read_qrels(qrels_file) if qrels_file else {}
    loaded = [runs.read_run(path).scores for path in runs.remove_duplicates(run_files)]
    pooled = make_pool(loaded, depth, judged)
    with open_searcher(where) as searcher, open_output(output, *inputs) as file:
        lacking = unknown_sentences({t: dict.fromkeys(ids, 0) for t, ids in pooled.items()}, searcher.index)
        if lacking:
            examples = ", ".join(lacking[:_MAX_EXAMPLES])
            problem = f"{redact(where)} lacks {len(lacking):,} of the sentences, such as {examples}"
            raise UsageError(f"{problem}: give the index and the runs of sentences that were made with it")
        file.writelines(_write_lines(pooled, queries, searcher.index))
    if output != "-":
        total = sum(map(len, pooled.values()))
        click.echo(f"wrote {total:,} sentences of {len(pooled):,} topics to {output}")


def _write_lines(pooled: Pool, queries: Mapping[str, str], index: Index) -> Iterator[str]:
    for topic, ids in pooled.items():
        for record in index.sentences(ids):
            line = {"topic": topic, "query": queries.get(topic), "sentence_id": record.sentence_id}
            line |= {"text": record.text, **{name: getattr(record, name) for name in _FIELDS}}
            kept = {name: value for name, value in line.items() if value is not None}
            yield json.dumps(kept, ensure_ascii=False) + "\n"


@click.command()
@click.argument("first", metavar="A.QRELS", type=_FILE)
@click.argument("second", metavar="B.QRELS", type=_FILE)
@options.as_json
def agreement(first: str, second: str, as_json: bool) -> None:
    """Measure the agreement of two judges by Cohen's kappa.

    Only sentences that both judged count. A kappa of 1 means full agreement, 0 agreement by chance. The first
    kappa takes grades as relevant (above 0) or not; the second weights each disagreement by the distance of
    the grades.

    \b
    Example:
      esr agreement ann.qrels bob.qrels
    """
    judges = read_qrels(first), read_qrels(second)
    found = measure_agreement(*judges)
    if as_json:
        click.echo(json.dumps(_to_json(found), indent=1))
        return
    alone = [sum(map(len, grades.values())) - found.sentences for grades in judges]
    click.echo(
        f"{found.sentences:,} sentences judged by both, {alone[0]:,} by the first alone, "
        f"{alone[1]:,} by the second alone"
    )
    click.echo(f"relevant or not: {found.agreed:.1%} the same, kappa {_format(found.kappa)}")
    click.echo(f"grades: weighted kappa {_format(found.weighted)}\n")
    head = [f"{first} \\ {second}", *map(str, found.grades)]
    rows = [[str(g), *map(str, row)] for g, row in zip(found.grades, found.counts.tolist(), strict=True)]
    click.echo(align_columns([head, *rows], left=1))


def _to_json(found: Agreement) -> dict[str, object]:
    numbers = {"kappa": found.kappa, "weighted": found.weighted}
    return {
        "sentences": found.sentences,
        "agreed": found.agreed,
        **{name: None if math.isnan(value) else value for name, value in numbers.items()},
        "grades": list(found.grades),
        "counts": found.counts.tolist(),
    }


def _format(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3f}"
