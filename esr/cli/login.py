"""The options of `esr` itself for logging in to Elasticsearch."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import click

from esr.cli.options import add_options
from esr.engines import login_variables
from esr.environment import set_environment

_FILES = {
    "--api-key-file": (login_variables.API_KEY_FILE, "A file with an API key of Elasticsearch"),
    "--password-file": (login_variables.PASSWORD_FILE, "A file with the user's password"),
    "--ca-file": (login_variables.CA_FILE, "Certificates (PEM) of the authorities to trust"),
}


def login_options(command: Callable[..., Any]) -> Any:
    """Adds the options. Secrets come from files and the environment: other users can see command lines."""
    return add_options(
        [
            click.option("--user", help=f"A user of Elasticsearch [{login_variables.USER}]."),
            *(
                click.option(option, metavar="FILE", help=f"{help} [{variable}].")
                for option, (variable, help) in _FILES.items()
            ),
            click.option(
                "--insecure",
                is_flag=True,
                help=f"Do not verify Elasticsearch's certificate [{login_variables.INSECURE}=1].",
            ),
        ],
        command,
    )


def use_login(user: str | None, insecure: bool, **files: str | None) -> AbstractContextManager[None]:
    """Put the options into the environment while inside, also for the processes that a command starts."""
    values = {login_variables.USER: user, login_variables.INSECURE: "1" if insecure else None}
    values |= {variable: files[_parameter_name(option)] for option, (variable, _) in _FILES.items()}
    return set_environment({variable: value for variable, value in values.items() if value is not None})


def _parameter_name(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")
