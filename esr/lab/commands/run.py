"""`esr run`: search for many topics and write one TREC run."""

from __future__ import annotations

from collections.abc import Sequence

import click
from msgspec.structs import replace
from tqdm import tqdm

from esr.cli import options
from esr.cli.output import open_output
from esr.cli.ranking_options import filter_options, ranking_options
from esr.errors import EsrError, UsageError
from esr.index.filters import Filters
from esr.index.hits import Hit
from esr.ranking.answers import best_of_documents, require_record
from esr.ranking.prepared_query import Answer, PreparedQuery
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import UnsearchableQuery, open_searcher
from esr.topics import TITLE, Topic, check_tag, choose_restrictions, format_lines, read_topics, split_fields
from esr.wording import count


@click.command()
@click.argument("topics", type=click.Path(dir_okay=False))
@options.index
@ranking_options
@filter_options
@click.option("-k", type=click.IntRange(1, 1_000_000), default=1000, help="Sentences per topic.")
@click.option(
    "--unit",
    type=click.Choice(["sentence", "document"]),
    default="sentence",
    help="document: rank documents, each by its best sentence, for judgements of documents.",
)
@click.option(
    "--restrict",
    metavar="FILE|topics",
    help='Rank only these documents for a topic. FILE has lines of "qid<TAB>document id"; the word '
    '"topics" selects the documents that the topics themselves name, as in the Novelty track.',
)
@click.option(
    "--field",
    default=TITLE,
    help="Field of the topics to search for: title, desc, narr, or several, like title+desc.",
)
@click.option(
    "--syntax",
    is_flag=True,
    help="Read topics in the query language of esr search. Default: all is read as words.",
)
@click.option("--tag", default="esr", help="The run's name, its last column.")
@click.option("-o", "--output", required=True, type=click.Path(allow_dash=True), help="The run; - prints it.")
def run(
    topics: str,
    where: str,
    ranking: Ranking,
    filters: Filters,
    k: int,
    unit: str,
    restrict: str | None,
    field: str,
    syntax: bool,
    tag: str,
    output: str,
) -> None:
    """Search for every topic and write a TREC run. TOPICS has lines of "qid<TAB>query",
    or is JSON Lines, or TREC topics (<top>). It may be compressed with gzip. ir_datasets:NAME takes the
    queries of a data set.

    Scores decrease strictly; ties are in the collection's order. The file appears when it is complete.

    \b
    Example:
      esr run topics.tsv --index my-index --model 2si --set mu=50 -o 2si.run
    """
    check_tag(tag)
    split_fields(field)
    all_topics = read_topics(topics)
    allowed = choose_restrictions(restrict, all_topics)
    queries, skipped = _build_queries(all_topics, field)
    total = 0
    with open_searcher(where) as searcher, open_output(output, topics, restrict) as file:
        for topic, query in tqdm(queries.items(), unit=" topics", disable=None, leave=False):
            topic_filters = filters
            if allowed is not None:
                topic_filters = replace(filters, documents=allowed.get(topic, ()))
                if not topic_filters.documents:
                    skipped.append(f"topic {topic}: --restrict names no document for it")
                    continue
            try:
                if unit == "document":
                    prepared = searcher.prepare(query, ranking, literal=not syntax)
                    answer = find_documents(prepared, k, topic_filters)
                else:
                    answer = searcher.search(
                        query, k, ranking=ranking, filters=topic_filters, records=False, literal=not syntax
                    )
            except UnsearchableQuery as error:
                skipped.append(f"topic {topic}: {error}")
                continue
            if answer.incomplete:
                raise EsrError(f"topic {topic}: the answer is incomplete: {answer.incomplete}; run again")
            if answer.unread:
                raise EsrError(
                    f"topic {topic}: the cross-encoder had no time for {answer.unread} of the sentences: "
                    "give it more, as in --rerank cross:MODEL:seconds=60, or a smaller depth"
                )
            file.writelines(format_lines(topic, answer.hits, tag))
            total += len(answer.hits)
    for reason in skipped:
        click.echo(f"skipped: {reason}", err=True)
    if output != "-":
        answered = count(len(all_topics) - len(skipped), "topic")
        click.echo(f"wrote {count(total, 'line')} for {answered} to {output}")


def find_documents(prepared: PreparedQuery, k: int, filters: Filters) -> Answer:
    """The best k documents, each with the score of its best sentence. The hits have ids of documents."""
    answer = Answer([], 0, 0.0)

    def find(n: int) -> Sequence[Hit]:
        nonlocal answer
        answer = prepared.search(n, filters)
        return answer.hits

    hits = best_of_documents(find, k, _document_of)
    return replace(answer, hits=[hit._replace(sentence_id=_document_of(hit)) for hit in hits])


def _document_of(hit: Hit) -> str:
    return require_record(hit).document_id


def _build_queries(topics: Sequence[Topic], field: str) -> tuple[dict[str, str], list[str]]:
    """The queries by topic id, and a message for each topic without the field.

    Raises UsageError if no topic has it.
    """
    queries: dict[str, str] = {}
    skipped: list[str] = []
    for topic in topics:
        try:
            queries[topic.id] = topic.query(field)
        except UsageError as error:
            skipped.append(str(error))
    if not queries:
        raise UsageError(f"no topic can be searched for: {skipped[0]}")
    return queries, skipped
