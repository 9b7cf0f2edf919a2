"""The option of commands that measure runs."""

from __future__ import annotations

import click

from esr.evaluation.measures import DEFAULT

measures_option = click.option(
    "-m",
    "--measures",
    "measure_texts",
    multiple=True,
    default=[" ".join(DEFAULT)],
    show_default=True,
    help='Measures, as ir_measures names them: "AP P@10". May be repeated.',
)
