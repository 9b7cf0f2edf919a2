"""`esr roles`: the least rights that each login of Elasticsearch needs, and API keys with them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from esr.cli.options import FILE
from esr.engines.access import ROLES, create_api_key, parse_alias, role_descriptors
from esr.errors import UsageError


@click.command(epilog="Roles: " + "; ".join(f"{name}: {what}" for name, what in ROLES.items()) + ".")
@click.argument("aliases", nargs=-1, required=True, metavar="ALIAS...")
@click.option("--role", "roles", multiple=True, type=click.Choice(list(ROLES)), help="Only this role.")
@click.option(
    "--key", "file", type=FILE, help="Make an API key with one role, and write it to this new file instead."
)
def roles(aliases: tuple[str, ...], roles: tuple[str, ...], file: Path | None) -> None:
    """Print the roles that esr needs in Elasticsearch, as JSON for its security API.

    ALIAS is what the roles are for, or a place: http(s)://host:port/alias. What is printed is
    `role_descriptors` of an API key; what stands under a name is the body of a role.

    \b
    Example:
      esr roles news
      esr roles https://localhost:9200/news --role page --key page.key
    """
    found = role_descriptors([parse_alias(alias) for alias in aliases], roles or tuple(ROLES))
    if file is None:
        click.echo(json.dumps(found, indent=1))
        return
    if len(found) != 1 or "://" not in aliases[0]:
        raise UsageError("--key wants one --role, and a place as the first ALIAS")
    try:  # before there is a key, which else nobody would know
        opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise UsageError(f"{file} cannot be made: {error.strerror}") from None
    try:
        with open(opened, "w", encoding="utf-8") as out:
            out.write(create_api_key(aliases[0], found))
    except BaseException:
        file.unlink()
        raise
    click.echo(f"{file} holds an API key for {', '.join(found)}")
