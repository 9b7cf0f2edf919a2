"""`esr run`: many topics, one TREC run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO

import click
from tqdm import tqdm

import esr
from esr.cli import options
from esr.engines.index import Filters
from esr.errors import EsrError, UsageError
from esr.evaluation import runs, tables
from esr.ranking.ranking import Ranking


@click.command()
@click.argument("topics", type=click.Path(dir_okay=False, path_type=Path))
@options.index
@options.ranking
@options.filters
@click.option(
    "-k", type=click.IntRange(1, 1_000_000), default=1000, show_default=True, help="Sentences a topic."
)
@click.option(
    "--restrict",
    type=click.Path(dir_okay=False, path_type=Path),
    help='Lines of "qid<TAB>document id": rank only these documents of a topic.',
)
@click.option("--tag", default="esr", show_default=True, help="The run's name, its last column.")
@click.option("-o", "--output", required=True, type=click.Path(allow_dash=True), help="The run; - prints it.")
def run(
    topics: Path,
    where: str,
    ranking: Ranking,
    filters: Filters,
    k: int,
    restrict: Path | None,
    tag: str,
    output: str,
) -> None:
    """Answer every topic and write a TREC run. TOPICS has lines of "qid<TAB>query".

    Scores fall strictly; ties keep the collection's order. The file appears when it is complete.

    \b
    Example:
      esr run topics.tsv --index my-index --model 2si --set mu=50 -o 2si.run
    """
    runs.check_tag(tag)
    queries = tables.topics(topics)
    allowed = tables.restrictions(restrict) if restrict else None
    skipped: list[str] = []
    written = 0
    with esr.open(where) as searcher, _written(output) as file:
        for topic, query in tqdm(queries.items(), unit=" topics", disable=None, leave=False):
            only = filters
            if allowed is not None:
                only = replace(filters, documents=allowed.get(topic, ()))
                if not only.documents:
                    skipped.append(f"{topic}: no document in {restrict}")
                    continue
            try:
                answer = searcher.search(query, k, ranking=ranking, filters=only, records=False)
            except UsageError as error:
                skipped.append(f"{topic}: {error}")
                continue
            if answer.incomplete:
                raise EsrError(f"topic {topic}: the answer is incomplete: {answer.incomplete}; run again")
            file.writelines(runs.lines(topic, answer.hits, tag))
            written += len(answer.hits)
    for reason in skipped:
        click.echo(f"nothing for topic {reason}", err=True)
    if output != "-":
        click.echo(f"wrote {written:,} lines for {len(queries) - len(skipped):,} topics to {output}")


@contextmanager
def _written(output: str) -> Iterator[IO[str]]:
    """The run's file: written beside its place, and moved there when it is whole."""
    if output == "-":
        yield sys.stdout
        return
    fresh = f"{output}.new"
    try:
        with open(fresh, "w", encoding="utf-8") as file:
            yield file
        os.replace(fresh, output)
    except OSError as error:
        Path(fresh).unlink(missing_ok=True)
        raise EsrError(f"cannot write {output}: {error.strerror}") from error
    except BaseException:
        Path(fresh).unlink(missing_ok=True)
        raise
