"""`esr roles`: the least rights that each login of Elasticsearch needs."""

from __future__ import annotations

import json

import click

from esr.engines.elasticsearch.place import alias_of
from esr.engines.elasticsearch.roles import ROLES, descriptors


@click.command(epilog="Roles: " + "; ".join(f"{name}: {what}" for name, what in ROLES.items()) + ".")
@click.argument("aliases", nargs=-1, required=True, metavar="ALIAS...")
@click.option("--role", "roles", multiple=True, type=click.Choice(list(ROLES)), help="Only this role.")
def roles(aliases: tuple[str, ...], roles: tuple[str, ...]) -> None:
    """Print the roles that esr needs in Elasticsearch, as JSON for its security API.

    ALIAS is what the roles are for, or a place: http(s)://host:port/alias. What is printed is
    `role_descriptors` of an API key; what stands under a name is the body of a role.

    \b
    Example:
      esr roles news
      esr roles news --role page
    """
    found = descriptors([alias_of(alias) for alias in aliases], roles or tuple(ROLES))
    click.echo(json.dumps(found, indent=1))
