"""`esr run`: many topics, one TREC run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click
from tqdm import tqdm

import esr
from esr.cli import options
from esr.cli.output import written
from esr.engines.index import Filters
from esr.errors import EsrError, UsageError
from esr.evaluation import restrict as restrictions
from esr.evaluation import runs
from esr.evaluation import topics as topic_files
from esr.evaluation.topic import TITLE, Topic, names
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import UnsearchableQuery


@click.command()
@click.argument("topics", type=click.Path(dir_okay=False))
@options.index
@options.ranking
@options.filters
@click.option(
    "-k", type=click.IntRange(1, 1_000_000), default=1000, show_default=True, help="Sentences a topic."
)
@click.option(
    "--restrict",
    metavar="FILE|topics",
    help='Rank only these documents of a topic. FILE has lines of "qid<TAB>document id"; the word '
    '"topics" takes the documents that the topics themselves name, as those of the Novelty track do.',
)
@click.option(
    "--field",
    default=TITLE,
    show_default=True,
    help="What of a topic to search for: title, desc, narr, or several as in title+desc.",
)
@click.option("--tag", default="esr", show_default=True, help="The run's name, its last column.")
@click.option("-o", "--output", required=True, type=click.Path(allow_dash=True), help="The run; - prints it.")
def run(
    topics: str,
    where: str,
    ranking: Ranking,
    filters: Filters,
    k: int,
    restrict: str | None,
    field: str,
    tag: str,
    output: str,
) -> None:
    """Answer every topic and write a TREC run. TOPICS has lines of "qid<TAB>query",
    or is JSON Lines, or TREC topics (<top>). It may be packed with gzip.

    Scores fall strictly; ties keep the collection's order. The file appears when it is complete.

    \b
    Example:
      esr run topics.tsv --index my-index --model 2si --set mu=50 -o 2si.run
    """
    runs.check_tag(tag)
    names(field)
    asked = topic_files.read(topics)
    allowed = _allowed(restrict, asked)
    queries, skipped = _queries(asked, field)
    total = 0
    with esr.open(where) as searcher, written(output, topics, restrict) as file:
        for topic, query in tqdm(queries.items(), unit=" topics", disable=None, leave=False):
            only = filters
            if allowed is not None:
                only = replace(filters, documents=allowed.get(topic, ()))
                if not only.documents:
                    skipped.append(f"{topic}: no document is named for it")
                    continue
            try:
                answer = searcher.search(query, k, ranking=ranking, filters=only, records=False)
            except UnsearchableQuery as error:
                skipped.append(f"{topic}: {error}")
                continue
            if answer.incomplete:
                raise EsrError(f"topic {topic}: the answer is incomplete: {answer.incomplete}; run again")
            file.writelines(runs.lines(topic, answer.hits, tag))
            total += len(answer.hits)
    for reason in skipped:
        click.echo(f"nothing for topic {reason}", err=True)
    if output != "-":
        click.echo(f"wrote {total:,} lines for {len(asked) - len(skipped):,} topics to {output}")


def _queries(topics: Sequence[Topic], field: str) -> tuple[dict[str, str], list[str]]:
    """What to search for by topic id, and what to say of topics that have no such field.

    Raises UsageError if none has it.
    """
    found: dict[str, str] = {}
    skipped: list[str] = []
    for topic in topics:
        try:
            found[topic.id] = topic.query(field)
        except UsageError as error:
            skipped.append(f"{topic.id}: {error}")
    if not found:
        raise UsageError(f"nothing for topic {skipped[0]}")
    return found, skipped


def _allowed(restrict: str | None, topics: Sequence[Topic]) -> restrictions.Restrictions | None:
    if restrict is None:
        return None
    if restrict == restrictions.FROM_TOPICS:
        return restrictions.of_topics(topics)
    return restrictions.read(restrict)
