"""The commands `esr names` and `esr name`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
from msgspec import Struct, structs

from esr.corpus.commands.word_tables import table_format_option
from esr.corpus.names_and_quotes import (
    EDGE_COLUMNS,
    Companion,
    ListedName,
    NamePage,
    build_network,
    check_names,
    list_names,
    read_name,
    select,
)
from esr.corpus.statements import Statements, find_statements
from esr.plugin import NotFound, UsageError, index_option
from esr.plugin.provisional import (
    NO_FILTERS,
    QUERY,
    TABLE,
    ArgumentRow,
    Filters,
    add_arguments,
    argument_types,
    build_option,
    check_output,
    collect_options,
    count,
    data_format_option,
    filter_options,
    note_unknown,
    open_output,
    open_searcher,
    parse_query,
    print_answer,
    write_table,
)

_GRAPHML, _CSV = ".graphml", ".csv"


_NETWORK = ArgumentRow(
    "network",
    "also write which of the listed names occur together: .graphml, or .csv with an edge a line",
    argument_types.FilePath(),
    sets="network_file",
)
_STATEMENTS = (
    ArgumentRow(
        "over_time", "also show what the person said, in the order of time", argument_types.Flag(), "name"
    ),
    ArgumentRow(
        "about", "the same for sentences with all of these words", applies_to="name", metavar="QUERY"
    ),
)


class ListOptions(Struct, frozen=True):
    """Which names `esr names` lists, and what it makes of them."""

    type: str | None
    prefix: str
    k: int
    network_file: Path | None
    least: int


@click.command()
@build_option(QUERY, required=False, default="")
@index_option
@add_arguments(TABLE, "names", "type", "prefix", "k", prefix={"default": "", "show_default": False})
@build_option(_NETWORK)
@add_arguments(TABLE, "network", "least")
@table_format_option
@filter_options
@collect_options(ListOptions)
def names(
    query: str,
    where: str,
    options: ListOptions,
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
    if options.network_file and options.network_file.suffix not in (_GRAPHML, _CSV):
        raise UsageError(
            f"--network needs a file that ends in {_GRAPHML} or {_CSV}, not {options.network_file}"
        )
    if options.network_file:
        check_output(options.network_file)
    with open_searcher(where) as searcher:
        selection = select(searcher, query, filters)
        listed = list_names(selection, type=options.type, prefix=options.prefix, k=options.k)
        if not listed:
            check_names(searcher.index)
        note_unknown(searcher, filters)
        if options.network_file:
            network = build_network(selection, listed, least=options.least)
    if options.network_file:
        is_table = options.network_file.suffix == _CSV
        text = write_table(EDGE_COLUMNS, network.to_rows()) if is_table else network.to_graphml()
        with open_output(options.network_file) as file:
            file.write(text)
    if format_name == "json":
        click.echo(json.dumps([structs.asdict(name) for name in listed], indent=1, ensure_ascii=False))
    elif format_name == "csv":
        columns = ListedName.__struct_fields__
        click.echo(write_table(columns, map(structs.astuple, listed)), nl=False)
    else:
        lines = [f"{name.count:>9,}  {name.type:<13} {name.name}" for name in listed]
        click.echo("\n".join(lines or ["No name was found."]))


@click.command()
@add_arguments(TABLE, "name", "name")
@index_option
@add_arguments(TABLE, "name", "companions", "k")
@add_arguments(_STATEMENTS, "name")
@data_format_option("text", "json", help="Print text for people, json for programs.")
def name(
    name: str, where: str, companions: int, k: int, over_time: bool, about: str | None, format_name: str
) -> None:
    """Show what an index has about a name.

    These are counts, dates, forms, sources, names that occur with it, sentences about it, and its newest
    quotations. NAME is any form, in any case, or an id such as Q22686; person:NAME, location:NAME and
    organization:NAME select a type. Names that occur with it are sorted by their association, the
    log-likelihood.

    \b
    Example:
      esr name "Michael Flynn" --index my-index
      esr name "Sean Spicer" --about wiretap --index my-index
      esr name person:washington --format json --index my-index
    """
    with open_searcher(where) as searcher:
        statements = None
        if over_time or about:
            query = parse_query(about) if about else None
            statements = find_statements(searcher, name, query, NO_FILTERS)
        try:
            page = read_name(searcher, name, companions=companions, sentences=k)
        except NotFound:
            if statements is None:
                raise
            page = None  # a speaker whose name is in no sentence, as in an index without names
    answer = (page.as_dict() if page else {}) | ({"over_time": statements.as_dict()} if statements else {})
    lines = [*(_draw_page(page) if page else [click.style(name, bold=True)]), *_draw_statements(statements)]
    print_answer(format_name, answer, (), lambda: "\n".join(lines))


_MOST_FORMS = 10
_SIGNS = {"same": "{}", "added": "+{}+", "removed": "-{}-"}
"""How the pieces of a later wording are written."""


def _draw_statements(statements: Statements | None) -> Iterator[str]:
    if statements is None:
        return
    yield f"\nwhat it said over time{f' about {statements.about}' if statements.about else ''}"
    if not statements.statements:
        yield "no quotation whose speaker is certain"
    for statement in statements.statements:
        for number, wording in enumerate(statement.wordings):
            quotation = wording.quotation
            date = (quotation.date or "undated")[:10]
            text = " ".join(_SIGNS[piece.kind].format(piece.text) for piece in wording.changes)
            copies = f", {count(len(wording.copies), 'more time')}" if wording.copies else ""
            indent = "  " if number else ""
            yield f"{indent}{date} {text or quotation.text} ({quotation.sentence_id}{copies})"


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
    for quotation in page.said:
        yield f"{quotation.text} ({quotation.sentence_id})"


def _draw_companions(title: str, companions: Sequence[Companion]) -> Iterator[str]:
    if companions:
        yield f"\n{'together':>9}{'in all':>9}{'association':>13}  {title}"
    for other in companions:
        yield f"{other.together:>9,}{other.count:>9,}{other.association:>13.1f}  {other.name} ({other.type})"
