"""Desks on both databases."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from esr.dossiers.desk import Desk
from tests.support.postgresql import serve_postgresql


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of an empty database."""
    with serve_postgresql() as address:
        yield address


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The place of a new desk, in a file or in a database of PostgreSQL."""
    if request.param == "sqlite":
        return str(tmp_path / "desk.sqlite")
    import psycopg

    address: str = request.getfixturevalue("postgresql")
    name = f"desk_{tmp_path.name.lower()}"[:50]
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{name}"')
        connection.execute(f'CREATE DATABASE "{name}"')
    return address.replace("/postgres?", f"/{name}?")


@pytest.fixture
def desk(where: str) -> Iterator[Desk]:
    with Desk(where) as opened:
        yield opened
