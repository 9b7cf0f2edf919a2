"""`esr indices`, `esr rollback`, `esr delete`: what stands at a place, and which of it is served."""

from __future__ import annotations

import json
from contextlib import closing

import click

from esr.cli.options import as_json, place
from esr.engines.factory import open_generations
from esr.engines.generations import SERVING, STATES, Generation
from esr.engines.redact import redacted


@click.command(epilog="States: " + "; ".join(f"{name}: {meaning}" for name, meaning in STATES.items()) + ".")
@place
@as_json
def indices(where: str, as_json: bool) -> None:
    """List what stands at a place: the serving generation, those that are kept, loads under way or cut off.

    \b
    Example:
      esr indices my-index
      esr indices http://localhost:9200/news --json
    """
    with closing(open_generations(where)) as at:
        found = at.all()
    if as_json:
        click.echo(json.dumps([each.as_dict() for each in found], indent=1))
        return
    for line in _table(found):
        click.echo(line)


@click.command()
@place
@click.option("--to", metavar="GENERATION", help="Serve this kept generation, older or newer.")
def rollback(where: str, to: str | None) -> None:
    """Serve the generation before the serving one again. Searches see the one or the other, in one step.

    The one that was served is kept, so `--to` can go forward again.

    \b
    Example:
      esr rollback my-index
      esr rollback my-index --to 20260301t060000000000
    """
    with closing(open_generations(where)) as at:
        chosen = at.rollback(to)
    click.echo(f"{redacted(where)} serves generation {chosen.name} again: {_holds(chosen)}")


@click.command()
@place
@click.argument("names", nargs=-1, metavar="[GENERATION]...")
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete(where: str, names: tuple[str, ...], yes: bool) -> None:
    """Delete generations that are not served; without a name, the whole index with all of them.

    \b
    Example:
      esr delete my-index 20260301t060000000000
      esr delete http://localhost:9200/news --yes
    """
    with closing(open_generations(where)) as at:
        found = at.all()
        if names:
            what = f"{len(set(names))} of {len(found)} generations of {redacted(where)}"
        else:
            serving = next((each for each in found if each.state == SERVING), None)
            held = f" with {_holds(serving)}" if serving else ""
            what = f"the index {redacted(where)}{held} and all {len(found)} generations of it"
        if not yes:
            click.confirm(f"Delete {what}?", abort=True, err=True)
        at.delete(names) if names else at.delete_all()
    click.echo(f"deleted {what}")


def _table(found: list[Generation]) -> list[str]:
    rows = [("generation", "state", "documents", "sentences", "size", "made")]
    for each in found:
        state = f"{each.state} on {each.by}" if each.by else each.state
        rows.append(
            (
                each.name,
                state,
                _count(each.documents),
                _count(each.sentences),
                _size(each.size_bytes),
                each.made,
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    left = {0, 1, 5}
    return [
        "  ".join(
            cell.ljust(width) if n in left else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _holds(generation: Generation) -> str:
    return f"{_count(generation.documents)} documents with {_count(generation.sentences)} sentences"


def _count(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def _size(size: int) -> str:
    for unit, bytes in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= bytes:
            return f"{size / bytes:.1f} {unit}"
    return f"{size} B"
