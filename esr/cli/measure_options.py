"""The option of commands that measure runs."""

from __future__ import annotations

from collections.abc import Iterable

import click

from esr.errors import UsageError
from esr.evaluation.measures import DEFAULT, parse, split_names

measures_option = click.option(
    "-m",
    "--measures",
    "measure_texts",
    multiple=True,
    default=[" ".join(DEFAULT)],
    show_default=True,
    help='Measures, as ir_measures names them: "AP P@10". May be repeated.',
)


def parse_measures(texts: Iterable[str]) -> list[str]:
    """The names of the measures, before long files are read. Raises UsageError if one does not exist."""
    names = split_names(" ".join(texts))
    if not names:
        raise UsageError("no measure given: name one with -m, like -m AP")
    for name in names:
        parse(name)
    return names
