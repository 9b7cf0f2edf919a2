"""The command `esr quotes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from esr.corpus.commands.word_tables import table_format_option
from esr.corpus.names_and_quotes import (
    ONLY_SOME_WORDS,
    Quotations,
    call_speakers,
    check_quotations,
    find_quotations,
    find_speakers,
    name_speaker,
)
from esr.plugin import index_option
from esr.plugin.provisional import (
    TABLE,
    ArgumentRow,
    Filters,
    Speaker,
    add_arguments,
    build_option,
    count,
    filter_options,
    note_unknown,
    open_searcher,
    parse_query,
    print_answer,
    suggest_speakers,
)

_ABOUT = ArgumentRow(
    "about", "show the best quotations for this query, instead of the newest", metavar="QUERY"
)


@click.command()
@add_arguments(TABLE, "quotes", "speaker")
@index_option
@build_option(_ABOUT)
@add_arguments(TABLE, "quotes", "k")
@table_format_option
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
        quotations = find_quotations(searcher, speaker, parse_query(about) if about else None, filters, k=k)
        if not quotations.quotations:
            check_quotations(searcher.index)
        is_unknown = bool(speaker) and format_name == "text" and not quotations.quotations
        suggestions = suggest_speakers(searcher.index, speaker or "") if is_unknown else ()
        quoted = quotations.quotations if format_name == "text" else []
        note_unknown(searcher, filters)
        called = call_speakers(find_speakers(searcher.index, quoted), quoted)
    answer = quotations.as_dict()
    print_answer(
        format_name,
        answer,
        answer["quotations"],
        lambda: _draw_quotations(quotations, called, suggestions),
        quotations.columns(),
    )


def _draw_quotations(result: Quotations, called: Mapping[str, str], suggestions: Sequence[Speaker]) -> str:
    if not result.quotations:
        names = ", ".join(speaker.name for speaker in suggestions)
        return f"Nothing matched. Did you mean {names}?" if names else "Nothing matched."
    blocks = []
    for number, quotation in enumerate(result.quotations):
        if number == result.first_incomplete:
            blocks.append(click.style(f"{ONLY_SOME_WORDS}:", dim=True))
        place = ", ".join(
            filter(None, (quotation.source, quotation.date and quotation.date[:10], quotation.sentence_id))
        )
        name = name_speaker(quotation, called)
        known = f", {name}" if name else ""
        probably = "probably " if quotation.is_probable else ""
        who = click.style(quotation.speaker or "unknown", bold=True)
        blocks.append(f"{quotation.text}\n  {probably}{who}{known} ({place})")
    return "\n".join([*blocks, "", count(result.sentences, "sentence", "match")])
