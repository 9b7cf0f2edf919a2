"""Commands for linguists: words in context, collocations, frequencies, key words, names and quotations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click
from msgspec import structs

from esr.cli import options
from esr.cli.options import FILE, describe_choices
from esr.cli.output import data_format_option, print_answer, write_table
from esr.cli.ranking_options import ReadQuery, filter_options, query_argument
from esr.corpus.collocations import (
    COLLOCATIONS,
    MEASURES,
    MIN_COUNT,
    UNITS,
    WINDOW,
    By,
    Collocations,
    Reach,
    contrast_collocations,
    find_collocations,
)
from esr.corpus.concordance import LINES, SORTS, WIDTH, Concordance, Unit, build_concordance
from esr.corpus.frequencies import (
    GROUPINGS,
    ORDERS,
    Frequencies,
    Frequency,
    Grouping,
    count_frequencies,
    find_key_words,
)
from esr.corpus.names_and_quotes import (
    COMPANIONS,
    EDGE_COLUMNS,
    NAMES,
    ONLY_SOME_WORDS,
    QUOTATIONS,
    SENTENCES,
    Companion,
    ListedName,
    NamePage,
    Quotations,
    build_network,
    call_speakers,
    check_names,
    check_quotations,
    find_quotations,
    find_speakers,
    list_names,
    name_speaker,
    read_name,
    select,
)
from esr.errors import UsageError
from esr.index.filters import Filters
from esr.index.names import ENTITY_TYPES
from esr.query import parse
from esr.ranking.query_report import Speaker, suggest_speakers
from esr.ranking.searcher import open_searcher
from esr.wording import count

F = TypeVar("F", bound=Callable[..., Any])
_format = data_format_option("text", "json", "csv")


@click.command()
@query_argument
@options.index
@click.option("-k", type=click.IntRange(1), default=LINES, help="Show this many lines.")
@click.option("--sort", type=click.Choice(list(SORTS)), default="newest", help=describe_choices(SORTS))
@click.option(
    "--width", type=click.IntRange(0, 1000), default=WIDTH, help="Show this much text on each side."
)
@click.option(
    "--unit", type=click.Choice(["characters", "words"]), default="characters", help="What --width counts."
)
@click.option("--sample", type=click.IntRange(1), help="Read this many sentences, drawn at random.")
@click.option("--seed", type=int, default=0, help="Seed of the sample.")
@_format
@filter_options
def concordance(
    query: ReadQuery,
    where: str,
    k: int,
    sort: str,
    width: int,
    unit: Unit,
    sample: int | None,
    seed: int,
    format_name: str,
    filters: Filters,
) -> None:
    """Show the occurrences of a word or phrase in context.

    Each is a line, with the text on both sides. Words without syntax are read as a phrase. If the query has a
    phrase in quotes, a prefix or alternatives, the first of them is shown, and the rest of the query only
    chooses the sentences.

    \b
    Example:
      esr concordance "climate change" --sort right1 --index my-index
      esr concordance "immigra* +policy" --sample 500 --format csv --index my-index
    """
    with open_searcher(where) as searcher:
        made = build_concordance(
            searcher, query.parsed, filters, k=k, sort=sort, width=width, unit=unit, sample=sample, seed=seed
        )
    answer = made.as_dict()
    print_answer(format_name, answer, answer["lines"], lambda: _draw_lines(made))
    is_partial = made.read < made.sentences and (sample is not None or len(made.lines) < k or made.read > k)
    if format_name == "text" and is_partial:
        click.echo(f"{made.read:,} of {made.sentences:,} sentences were read", err=True)


def _draw_lines(made: Concordance) -> str:
    if not made.lines:
        return "Nothing matched."
    left = max(len(line.left.strip()) for line in made.lines)
    lines = (
        f"{line.left.strip():>{left}} {click.style(line.node, bold=True)}{line.right.rstrip()}"
        for line in made.lines
    )
    exact = f"{count(made.sentences, 'sentence')} with exactly this form"
    others = f", {made.all_words:,} with all forms" if made.all_words not in (None, made.sentences) else ""
    return "\n".join([*lines, "", f"{count(len(made.lines), 'line')}, {exact}{others}"])


_k = click.option("-k", type=click.IntRange(1), default=COLLOCATIONS, help="Show this many words.")
_against = click.option(
    "--against", metavar="QUERY", help="The sentences to compare with, as a query. Default: all others."
)


def _min_count(help: str) -> Callable[[F], F]:
    return click.option("--min-count", type=click.IntRange(1), default=MIN_COUNT, help=help)


def _reach_options(command: F) -> F:
    """Add the options of the window around the node. The command receives them as the parameter `reach`."""

    @wraps(command)
    def with_reach(*args: Any, window: int, sentence: bool, by: By, stop_words: bool, **kwargs: Any) -> Any:
        return command(*args, reach=Reach(None if sentence else window, by, stop_words), **kwargs)

    added = (
        click.option(
            "--window",
            type=click.IntRange(1, 100),
            default=WINDOW,
            help="Count this many words on each side as near.",
        ),
        click.option("--sentence", is_flag=True, help="Count all words of the sentence as near."),
        click.option("--by", type=click.Choice(list(UNITS)), default="stems", help=describe_choices(UNITS)),
        click.option("--stop-words", is_flag=True, help="Count stop words too."),
    )
    return cast(F, options.add_options(added, with_reach))


@click.command()
@query_argument
@options.index
@_reach_options
@click.option(
    "--measure", type=click.Choice(list(MEASURES)), default="logdice", help="The measure to order by."
)
@_min_count("Show words that are near at least this many times.")
@_k
@_format
@filter_options
def collocations(
    query: ReadQuery,
    where: str,
    reach: Reach,
    measure: str,
    min_count: int,
    k: int,
    format_name: str,
    filters: Filters,
) -> None:
    """Show the words that are typical near a word or phrase.

    They are near it more often than their frequency explains. The query is read as by esr concordance. Words
    near the node are compared with the whole collection. See also esr contrast.

    \b
    Example:
      esr collocations immigration --index my-index
      esr collocations "climate change" --sentence --measure log-likelihood --after 2017 --index my-index
      esr collocations budget --by forms --stop-words --window 2 --index my-index
    """
    with open_searcher(where) as searcher:
        found = find_collocations(
            searcher, query.parsed, filters, reach=reach, measure=measure, min_count=min_count, k=k
        )
    answer = found.as_dict()
    print_answer(format_name, answer, answer["collocations"], lambda: _draw_table(found))


@click.command()
@query_argument
@click.argument("part")
@options.index
@_against
@_reach_options
@_min_count("Show words that are near at least this many times.")
@_k
@_format
@filter_options
def contrast(
    query: ReadQuery,
    part: str,
    where: str,
    against: str | None,
    reach: Reach,
    min_count: int,
    k: int,
    format_name: str,
    filters: Filters,
) -> None:
    """Compare the words near a word or phrase in two parts.

    PART is a query for the sentences of a part: a source, a period, other words. The words near the node
    there are compared with those near it in the sentences of --against, or in all other sentences.

    \b
    Example:
      esr contrast immigration source:bbc.co.uk --index my-index
      esr contrast immigration after:2017 --against before:2017 --by forms --index my-index
    """
    with open_searcher(where) as searcher:
        found = contrast_collocations(
            searcher,
            query.parsed,
            filters,
            parse(part),
            None if against is None else parse(against),
            reach=reach,
            min_count=min_count,
            k=k,
        )
    answer = found.as_dict()
    rows, (own, other), sentences = answer["collocations"], found.node, found.sentences
    sizes = f"{own:,} and {other:,} times in {sentences[0]:,} and {sentences[1]:,} sentences"
    print_answer(format_name, answer, rows, lambda: _draw_columns(rows, _CONTRAST, sizes))


@click.command()
@click.argument("queries", metavar="QUERY...", nargs=-1, required=True)
@options.index
@click.option(
    "--by", type=click.Choice(GROUPINGS), default="month", help="Count by this period, or by source."
)
@_format
@filter_options
def frequencies(
    queries: tuple[str, ...], where: str, by: Grouping, format_name: str, filters: Filters
) -> None:
    """Count words and phrases by period or source.

    Each query is read as by esr concordance: words without syntax are a phrase. Words are counted as they are
    written. Rates are per million words that the index counts, which leaves out stop words.

    \b
    Example:
      esr frequencies "climate change" brexit --by month --index my-index
      esr frequencies "immigra*" --by source --format csv --index my-index
    """
    with open_searcher(where) as searcher:
        made = count_frequencies(searcher, list(map(parse, queries)), filters, by)
    lines = (line for series in made.series for line in _draw_frequency(made, series))
    print_answer(format_name, made.as_dict(), made.rows(), lambda: "\n".join(lines))


def _draw_frequency(made: Frequencies, series: Frequency) -> Iterator[str]:
    """The counts of a query with bars of its rates, then its total."""
    rates = made.rates(series)
    yield click.style(series.query, bold=True)
    width, most = max(map(len, made.groups), default=0), max(rates, default=0.0) or 1.0
    for group, number, rate in zip(made.groups, series.counts, rates, strict=True):
        bar = "█" * round(_BAR * rate / most)
        yield f"  {group:<{width}}{number:>9,}{rate:>12,.1f} {bar}".rstrip()
    ungrouped = f", {series.ungrouped:,} without a {made.by}" if series.ungrouped else ""
    yield (
        f"  {series.total:,} times in {series.sentences:,} sentences{ungrouped}; "
        f"{made.rate(series):,.1f} per million words"
    )


_BAR = 40
"""Length of the longest bar, in characters."""


@click.command()
@query_argument
@options.index
@_against
@click.option(
    "--order", type=click.Choice(list(ORDERS)), default="log-likelihood", help=describe_choices(ORDERS)
)
@_min_count("Show words that occur at least this many times in the part.")
@_k
@_format
def keyness(
    query: ReadQuery,
    where: str,
    against: str | None,
    order: str,
    min_count: int,
    k: int,
    format_name: str,
) -> None:
    """Show the key words of a part of the collection.

    These are words that are more frequent there than in another part. QUERY selects the sentences of the
    part: by a source, a date, a word. They are compared with the sentences of --against, or with the rest of
    the collection. Forms with the same term count together; stop words are not counted.

    \b
    Example:
      esr keyness source:bbc.co.uk --index my-index
      esr keyness "source:BBC after:2017" --against "source:Reuters" --order log-ratio --index my-index
    """
    with open_searcher(where) as searcher:
        found = find_key_words(
            searcher,
            query.parsed,
            None if against is None else parse(against),
            order=order,
            min_count=min_count,
            k=k,
        )
    answer = found.as_dict()
    rows, sizes = answer["words"], f"{found.sizes[0]:,} words in the part, {found.sizes[1]:,} in the other"
    print_answer(format_name, answer, rows, lambda: _draw_columns(rows, _KEYNESS, sizes))


_CONTRAST = {
    "near": "near",
    "other": "in other",
    "log_likelihood": "log-likelihood",
    "log_ratio": "log ratio",
}
_KEYNESS = {
    "own": "in part",
    "other": "in other",
    "log_likelihood": "log-likelihood",
    "log_ratio": "log ratio",
    "percent_difference": "%diff",
}
"""Columns of tables: the key of the answer, and the heading."""


def _draw_columns(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str], sizes: str) -> str:
    def show(value: float | None) -> str:
        return "" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"

    header = f"{'word':<24}" + "".join(f"{heading:>16}" for heading in columns.values())
    lines = [f"{row['word']:<24}" + "".join(f"{show(row[name]):>16}" for name in columns) for row in rows]
    return "\n".join([click.style(header, bold=True), *lines, "", sizes] if rows else [f"Too rare: {sizes}"])


def _draw_table(found: Collocations) -> str:
    header = f"{'word':<24}{'near':>8}{'in all':>10}" + "".join(f"{name:>16}" for name in MEASURES)
    rows = [
        f"{each.word:<24}{each.near:>8,}{each.frequency:>10,}"
        + "".join(f"{each.measures[name]:>16.2f}" for name in MEASURES)
        for each in found.collocations
    ]
    sizes = f"{found.node:,} times in {found.sentences:,} sentences"
    return "\n".join([click.style(header, bold=True), *rows, "", sizes] if rows else [f"Too rare: {sizes}"])


# Names and quotations


_GRAPHML, _CSV = ".graphml", ".csv"


@click.command()
@click.argument("query", default="")
@options.index
@click.option("--type", "type", type=click.Choice(ENTITY_TYPES), help="List only names of this type.")
@click.option(
    "--prefix",
    default="",
    show_default=False,
    help="List only names with a form that begins with this, in any case.",
)
@click.option("-k", type=click.IntRange(1), default=NAMES, help="List this many names.")
@click.option(
    "--network",
    "network_file",
    type=FILE,
    help="Also write which of the listed names occur together: .graphml, or .csv with an edge a line.",
)
@click.option(
    "--least",
    type=click.IntRange(1),
    default=1,
    help="Join two names of the network if at least this many sentences have both.",
)
@_format
@filter_options
def names(
    query: str,
    where: str,
    type: str | None,
    prefix: str,
    k: int,
    network_file: Path | None,
    least: int,
    format_name: str,
    filters: Filters,
) -> None:
    """List the persons, places and organizations of an index.

    The most frequent come first. With QUERY, they are counted in the sentences with all of its words. Gephi
    and networkx read the files of --network. The index needs names: esr enrich finds them.

    \b
    Example:
      esr names --type person --index my-index
      esr names "travel ban" --after 2017-03 --format csv --index my-index
      esr names --type person -k 200 --network people.graphml --least 3 --index my-index
    """
    if network_file and network_file.suffix not in (_GRAPHML, _CSV):
        raise UsageError(f"--network needs a file that ends in {_GRAPHML} or {_CSV}, not {network_file}")
    with open_searcher(where) as searcher:
        selection = select(searcher, query, filters)
        listed = list_names(selection, type=type, prefix=prefix, k=k)
        if not listed:
            check_names(searcher.index)
        if network_file:
            network = build_network(selection, listed, least=least)
    if network_file:
        is_table = network_file.suffix == _CSV
        text = write_table(EDGE_COLUMNS, network.to_rows()) if is_table else network.to_graphml()
        network_file.write_text(text, "utf-8", newline="")
    if format_name == "json":
        click.echo(json.dumps([structs.asdict(name) for name in listed], indent=1, ensure_ascii=False))
    elif format_name == "csv":
        columns = ListedName.__struct_fields__
        click.echo(write_table(columns, map(structs.astuple, listed)), nl=False)
    else:
        lines = [f"{name.count:>9,}  {name.type:<13} {name.name}" for name in listed]
        click.echo("\n".join(lines or ["No name was found."]))


@click.command()
@click.argument("name")
@options.index
@click.option(
    "--companions",
    type=click.IntRange(0, 1000),
    default=COMPANIONS,
    help="Show this many names that occur with it.",
)
@click.option(
    "-k",
    type=click.IntRange(0, 1000),
    default=SENTENCES,
    help="Show this many sentences about it, and quotations of it.",
)
@data_format_option("text", "json", help="Print text for people, json for programs.")
def name(name: str, where: str, companions: int, k: int, format_name: str) -> None:
    """Show what an index has about a name.

    These are counts, dates, forms, sources, names that occur with it, sentences about it, and its newest
    quotations. NAME is any form, in any case, or an id such as Q22686; person:NAME, location:NAME and
    organization:NAME select a type. Names that occur with it are sorted by their association, the
    log-likelihood.

    \b
    Example:
      esr name "Michael Flynn" --index my-index
      esr name person:washington --format json --index my-index
    """
    with open_searcher(where) as searcher:
        page = read_name(searcher, name, companions=companions, sentences=k)
    print_answer(format_name, page.as_dict(), (), lambda: "\n".join(_draw_page(page)))


_MOST_FORMS = 10


def _draw_page(page: NamePage) -> Iterator[str]:
    yield f"{click.style(page.name, bold=True)} ({page.type})"
    if page.others:
        yield f"may also mean {', '.join(page.others[:_MOST_FORMS])}"
    if page.ids:
        yield f"ids: {', '.join(page.ids[:_MOST_FORMS])}"
    yield f"{count(page.sentences, 'sentence')}, {count(page.documents, 'document')}"
    if page.first:
        yield f"first {page.first}, last {page.last}"
    for title, counts in (("forms", page.forms), ("sources", page.sources)):
        shown = [f"{value} {count:,}" for value, count in list(counts.items())[:_MOST_FORMS]]
        yield f"{title}: {', '.join(shown)}{' …' if len(counts) > _MOST_FORMS else ''}"
    yield f"months: {', '.join(f'{month} {count:,}' for month, count in page.months.items())}"
    yield from _draw_companions("in the same sentence", page.in_sentences)
    yield from _draw_companions("in the same document", page.in_documents)
    if page.best:
        yield "\nabout it"
    for hit in page.best:
        if hit.record:
            yield f"{hit.record.text} ({hit.sentence_id})"
    if page.said:
        yield "\nwhat it said"
    for each in page.said:
        yield f"{each.text} ({each.sentence_id})"


def _draw_companions(title: str, companions: Sequence[Companion]) -> Iterator[str]:
    if companions:
        yield f"\n{'together':>9}{'in all':>9}{'association':>13}  {title}"
    for each in companions:
        yield f"{each.together:>9,}{each.count:>9,}{each.association:>13.1f}  {each.name} ({each.type})"


@click.command()
@click.argument("speaker", required=False)
@options.index
@click.option(
    "--about", metavar="QUERY", help="Show the best quotations for this query, instead of the newest."
)
@click.option("-k", type=click.IntRange(1), default=QUOTATIONS, help="Quotations to show.")
@_format
@filter_options
def quotes(
    speaker: str | None, where: str, about: str | None, k: int, format_name: str, filters: Filters
) -> None:
    """Show what SPEAKER said, or everybody, newest first.

    Quotations are direct speech. They come with the documents, or from esr enrich --only quotes. Name a
    speaker in full: quotations by "she" or a last name are found too, where it is clear who is meant.

    \b
    Example:
      esr quotes "Theresa May" --about brexit --index my-index
      esr quotes --after 2017-03 --format csv --index my-index
    """
    with open_searcher(where) as searcher:
        found = find_quotations(searcher, speaker, parse(about) if about else None, filters, k=k)
        if not found.quotations:
            check_quotations(searcher.index)
        is_unknown = bool(speaker) and format_name == "text" and not found.quotations
        meant = suggest_speakers(searcher.index, speaker or "") if is_unknown else ()
        said = found.quotations if format_name == "text" else []
        called = call_speakers(find_speakers(searcher.index, said), said)
    answer = found.as_dict()
    print_answer(format_name, answer, answer["quotations"], lambda: _draw_quotations(found, called, meant))


def _draw_quotations(found: Quotations, called: Mapping[str, str], meant: Sequence[Speaker]) -> str:
    if not found.quotations:
        names = ", ".join(speaker.name for speaker in meant)
        return f"Nothing matched. Did you mean {names}?" if names else "Nothing matched."
    blocks = []
    for number, each in enumerate(found.quotations):
        if number == found.first_incomplete:
            blocks.append(click.style(f"{ONLY_SOME_WORDS}:", dim=True))
        place = ", ".join(filter(None, (each.source, each.date and each.date[:10], each.sentence_id)))
        name = name_speaker(each, called)
        known = f", {name}" if name else ""
        blocks.append(f"{each.text}\n  {click.style(each.speaker or 'unknown', bold=True)}{known} ({place})")
    return "\n".join([*blocks, "", count(found.sentences, "sentence", "match")])
