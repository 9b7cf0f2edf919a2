"""`esr indices`, `esr rollback`, `esr delete`: the generations of an index."""

from __future__ import annotations

import json
from contextlib import closing

import click

from esr.cli.options import as_json, describe_choices, place
from esr.engines.factory import open_generations
from esr.engines.generations import KEPT, SERVING, STATES, Generation, describe_missing
from esr.engines.redact import redact


@click.command(epilog="States: " + describe_choices(STATES))
@place
@as_json
def indices(where: str, as_json: bool) -> None:
    """List the generations of an index: the serving one, kept ones, and running or interrupted loads.

    \b
    Example:
      esr indices my-index
      esr indices http://localhost:9200/news --json
    """
    with closing(open_generations(where)) as index:
        generations = index.all()
    if as_json:
        click.echo(json.dumps([generation.as_dict() for generation in generations], indent=1))
        return
    for line in _format_table(generations):
        click.echo(line)


@click.command()
@place
@click.option("--to", metavar="GENERATION", help="Serve this kept generation, older or newer.")
def rollback(where: str, to: str | None) -> None:
    """Serve the generation before the serving one again. Searches switch from one to the other atomically.

    The generation that was serving is kept, so `--to` can go forward again.

    \b
    Example:
      esr rollback my-index
      esr rollback my-index --to 20260301t060000000000
    """
    with closing(open_generations(where)) as index:
        generation = index.rollback(to)
    click.echo(f"{redact(where)} serves generation {generation.name} again: {_describe(generation)}")


@click.command()
@place
@click.argument("names", nargs=-1, metavar="[GENERATION]...")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(where: str, names: tuple[str, ...], yes: bool) -> None:
    """Delete generations that are not serving, or, without a name, the whole index with all of them.

    \b
    Example:
      esr delete my-index 20260301t060000000000
      esr delete http://localhost:9200/news --yes
    """
    with closing(open_generations(where)) as index:
        generations = index.all()
        if names:
            chosen = ", ".join(dict.fromkeys(names))
            target = f"{chosen}, of {len(generations)} generations of {redact(where)}"
        else:
            serving = next((g for g in generations if g.state == SERVING), None)
            contents = f" with {_describe(serving)}" if serving else ""
            target = f"the index {redact(where)}{contents} and all {len(generations)} generations of it"
        if not yes:
            click.confirm(f"Delete {target}?", abort=True, err=True)
        index.delete(names) if names else index.delete_all()
    click.echo(f"deleted {target}")


def _format_table(generations: list[Generation]) -> list[str]:
    rows = [("generation", "state", "documents", "sentences", "size", "made")]
    for generation in generations:
        state = f"{generation.state} on {generation.host}" if generation.host else generation.state
        state += ", rejected" if generation.is_rejected else ""
        if generation.missing:
            state += f", {describe_missing(generation.missing)}"
        elif generation.sentences is None and generation.state in (SERVING, KEPT):
            state += ", not ready"
        rows.append(
            (
                generation.name,
                state,
                _format_count(generation.documents),
                _format_count(generation.sentences),
                _format_size(generation.size_bytes),
                generation.started_at,
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    left_aligned = {0, 1, 5}
    return [
        "  ".join(
            cell.ljust(width) if n in left_aligned else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _describe(generation: Generation) -> str:
    documents, sentences = _format_count(generation.documents), _format_count(generation.sentences)
    return f"{documents} documents with {sentences} sentences"


def _format_count(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def _format_size(size: int | None) -> str:
    if size is None:
        return "?"
    for unit, bytes in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= bytes:
            return f"{size / bytes:.1f} {unit}"
    return f"{size} B"
