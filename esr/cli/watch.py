"""`esr watch`: what saved searches have found since last time. Made to be run by a timer."""

from __future__ import annotations

import sys
from pathlib import Path

import click

import esr
from esr.cli import options
from esr.cli.options import FILE
from esr.cli.output_file import check_output
from esr.following.saved_searches import read_searches
from esr.following.watch import WatchFailed, find_news, tell_lines, tell_stream, write_feeds
from esr.following.watch_state import WatchState

NOTHING_NEW = 3
"""The exit status of a run that had nothing to tell."""


@click.command()
@click.argument("searches", type=FILE)
@options.index
@click.option("--state", type=FILE, help="What was told so far. Default: SEARCHES with .state at its end.")
@click.option("--output", type=FILE, help="Add the lines to this file, each once. Default: standard output.")
@click.option(
    "--feeds",
    type=click.Path(file_okay=False, path_type=Path),
    help="Also write an Atom feed for each search into this folder.",
)
@click.option(
    "--from-start", is_flag=True, help="Of a search that is new, also tell what the index has already."
)
def watch(
    searches: Path, where: str, state: Path | None, output: Path | None, feeds: Path | None, from_start: bool
) -> None:
    """Tell once what each saved search has found since last time, as JSON lines, the oldest first.

    SEARCHES is a TOML file, each search a table: [floods], query = "flood OR storm", and optionally
    literal, ranking, from, to, source, document, entity. Sentences are told that have all words of the
    query. The first run of a search tells nothing: what the index has then is known.

    \b
    Exit status:
      0   there was something new
      1   it failed; what was not told comes next time
      2   the command or SEARCHES is wrong
      3   there was nothing new
      75  another run has not finished yet

    \b
    Example:
      esr watch searches.toml --index my-index
      esr watch searches.toml --output news.jsonl --feeds feeds --index my-index
    """
    state = state or searches.with_name(f"{searches.name}.state")
    if output:
        check_output(output, searches, state)
    saved = read_searches(searches)
    failure: WatchFailed | None = None
    with WatchState(state) as known:
        with esr.open(where) as searcher:
            try:
                find_news(searcher, saved, known, tell_all=from_start)
            except WatchFailed as error:
                failure = error  # what the others found is told first
        told = tell_lines(known, output) if output else tell_stream(known, sys.stdout.buffer)
        if feeds:
            write_feeds(known, saved, feeds)
        with known.transaction():
            known.forget_old()
    if failure is not None:
        raise failure
    if not told:
        sys.exit(NOTHING_NEW)
