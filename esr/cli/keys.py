"""`esr keys`: manage the file of grants, which says who may search the indexes of `esr serve`."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from esr.access.grants import (
    KINDS,
    SECRET_KINDS,
    Grant,
    changing,
    describe,
    hash_key,
    hash_password,
    make_key,
    read_grants,
)
from esr.arguments.tables.commands import COMMANDS
from esr.arguments.types import Choice
from esr.cli.arguments import add_arguments
from esr.cli.options import as_json, describe_choices
from esr.errors import UsageError, unknown
from webui.running.settings import DEFAULT_NAME, parse_locations

_file = add_arguments(COMMANDS, "grants", file={"envvar": "ESR_ACCESS", "show_envvar": True})


@click.group()
def keys() -> None:
    """Manage who may search on a server.

    Programs have keys, and people log in. The grants are in a file, which ESR_ACCESS names for the server. A
    server reads it again when it has changed.
    """


@keys.command(epilog="Kinds: " + describe_choices({str(kind): text for kind, text in KINDS.items()}))
@add_arguments(COMMANDS, "grant", "name")
@_file
@add_arguments(
    COMMANDS,
    "grant",
    *("kind", "index", "rate", "expires", "filter", "group", "password_file", "replace"),
    kind={"values": Choice(labels=KINDS, usual="key")},
)
def add(
    name: str,
    path: Path,
    kind: Any,
    restriction: str,
    password_file: Path | None,
    replace: bool,
    **limits: Any,
) -> None:
    """Add a grant to the file, and print the key of a program. The key is shown only once.

    \b
    Example:
      esr keys add newsletter --file access.json --index news --rate 60/minute
      esr keys add sports-desk --file access.json --filter source:Sports --expires 2027-12-31
      esr keys add ann --file access.json --kind password
      esr keys add ann@example.org --file access.json --kind elsewhere
    """
    key = make_key() if kind in ("key", "metrics") else None
    created = datetime.now(UTC).isoformat(timespec="seconds")
    grant = Grant(name, kind, "-" if kind in SECRET_KINDS else "", filter=restriction, made=created, **limits)
    grant.check()  # before asking for a password
    if not grant.is_valid(datetime.now(UTC)):
        raise UsageError(f"--expires {grant.expires} is in the past: give a later date")
    _check_indexes(grant)
    secret = hash_key(key) if key else _read_password(password_file, name) if kind == "password" else ""
    with changing(path) as grants:
        if name in grants and not replace:
            raise UsageError(f"{path} has a grant {name!r} already: revoke it, or give --replace")
        grants[name] = Grant(name, kind, secret, filter=restriction, made=created, **limits)
    if key is None:
        click.echo(f"added {name} to {path}")
        return
    click.echo(f"added {name} to {path}; its key, which is not shown again:", err=True)
    click.echo(key)


def _check_indexes(grant: Grant) -> None:
    """Compare the names of indexes with those that ESR_INDEX gives to `esr serve`. Raises UsageError.

    Without names there, only the server knows which it serves, and a note says so.
    """
    for name in _find_unserved(grant, os.environ.get("ESR_INDEX", "")):
        click.echo(
            f"note: nothing here says whether {name!r} is served: set ESR_INDEX as for esr serve", err=True
        )


def _find_unserved(grant: Grant, locations: str) -> list[str]:
    """The indexes of a grant that may not be served, where `locations` is what `esr serve` serves.

    Raises UsageError for an index that is not served, if the locations have names.
    """
    served = parse_locations(locations)
    if set(served) == {DEFAULT_NAME}:
        return [name for name in grant.indexes if name != DEFAULT_NAME]
    for name in grant.indexes:
        if name not in served:
            raise unknown("index", name, served)
    return []


def _read_password(file: Path | None, name: str) -> str:
    if file is None:
        password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return hash_password(password, name)
    try:
        return hash_password(file.read_text("utf-8").rstrip("\r\n"), name)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not a text"
        raise UsageError(f"cannot read {file}: {reason.lower()}") from None


@keys.command("list")
@_file
@as_json
def list_(path: Path, as_json: bool) -> None:
    """List the grants of the file, without their secrets.

    \b
    Example:
      esr keys list --file access.json
    """
    grants = [describe(grant) for grant in read_grants(path).by_name.values()]
    if as_json:
        click.echo(json.dumps(grants, indent=1))
        return
    for grant in grants:
        click.echo(_format(grant))


def _format(grant: Mapping[str, Any]) -> str:
    expires = f"{'expired' if grant['expired'] else 'until'} {grant['expires']}" if grant["expires"] else ""
    parts = [", ".join(grant["indexes"]) or "all indexes", grant["rate"], expires, grant["filter"]]
    if grant["groups"]:
        parts.append(f"groups {', '.join(grant['groups'])}")
    return f"{grant['name']} ({grant['kind']}): {'; '.join(filter(None, parts))}"


@keys.command()
@add_arguments(COMMANDS, "revoke")
@_file
def revoke(names: tuple[str, ...], path: Path) -> None:
    """Remove grants from the file. Servers refuse their keys and sessions from the next request on.

    \b
    Example:
      esr keys revoke newsletter --file access.json
    """
    if not path.exists():
        raise UsageError(f"there is no file {path}")
    with changing(path) as grants:
        for name in names:
            if grants.pop(name, None) is None:
                raise UsageError(f"{path} has no grant {name!r}")
    click.echo(f"revoked {', '.join(names)}")
