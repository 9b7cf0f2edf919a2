"""`esr roles`: the minimal privileges of each login to Elasticsearch, and API keys with them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from esr.cli.options import FILE, describe_choices
from esr.engines.access import ROLES, create_api_key, parse_alias, role_descriptors
from esr.errors import UsageError


@click.command(epilog="Roles: " + describe_choices(ROLES))
@click.argument("aliases", nargs=-1, required=True, metavar="ALIAS...")
@click.option("--role", "roles", multiple=True, type=click.Choice(list(ROLES)), help="Only this role.")
@click.option(
    "--key", "file", type=FILE, help="Create an API key with one role, and write it to this new file instead."
)
@click.option(
    "--wait",
    "patience",
    type=click.FloatRange(0),
    default=0.0,
    metavar="SECONDS",
    help="With --key: how long to try again while Elasticsearch is starting and rejects every login.",
)
def roles(aliases: tuple[str, ...], roles: tuple[str, ...], file: Path | None, patience: float) -> None:
    """Print the roles that esr needs in Elasticsearch, as JSON for its security API.

    ALIAS is the alias that the roles are for, or its URL: http(s)://host:port/alias. The output is the
    `role_descriptors` of an API key; each value in it is the body of a role.

    \b
    Example:
      esr roles news
      esr roles https://localhost:9200/news --role page --key page.key
    """
    descriptors = role_descriptors([parse_alias(alias) for alias in aliases], roles or tuple(ROLES))
    if file is None:
        click.echo(json.dumps(descriptors, indent=1))
        return
    if len(descriptors) != 1 or "://" not in aliases[0]:
        raise UsageError("--key needs exactly one --role, and a URL as the first ALIAS")
    try:  # before the key is created, because it cannot be read again
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise UsageError(f"cannot create {file}: {error.strerror}") from None
    try:
        with open(descriptor, "w", encoding="utf-8") as out:
            out.write(create_api_key(aliases[0], descriptors, patience))
    except BaseException:
        file.unlink()
        raise
    click.echo(f"{file} contains an API key for {', '.join(descriptors)}")
