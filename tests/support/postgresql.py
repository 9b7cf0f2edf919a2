"""A PostgreSQL server for tests: the one that ESR_TEST_POSTGRESQL names, or one that is started here."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.runs import end_test, need


@contextmanager
def serve_postgresql() -> Iterator[str]:
    """The address of a server with an empty database, at a socket in a folder of its own."""
    need("psycopg")
    if address := os.environ.get("ESR_TEST_POSTGRESQL"):
        yield address
        return
    programs = _find_programs()
    if programs is None:
        end_test("needs PostgreSQL: apt-get install postgresql, or set ESR_TEST_POSTGRESQL")
    folder = Path(tempfile.mkdtemp(prefix="esr-postgresql-", dir="/tmp"))  # a socket has a short path
    user = {}
    if os.getuid() == 0:  # it refuses to run as root
        account = pwd.getpwnam("postgres")
        os.chown(folder, account.pw_uid, account.pw_gid)
        user = {"user": "postgres"}

    def run(program: str, *arguments: str) -> None:
        subprocess.run([programs / program, *arguments], check=True, capture_output=True, cwd=folder, **user)  # type: ignore[call-overload]

    data = str(folder / "data")
    try:
        run("initdb", "-D", data, "-U", "esr", "--auth=trust", "-E", "UTF8", "--no-sync")
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        run("pg_ctl", "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield f"postgresql://esr@/postgres?host={folder}"
        finally:
            run("pg_ctl", "-D", data, "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _find_programs() -> Path | None:
    """The folder of the programs of a server, which Debian keeps outside of the path."""
    for folder in (*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), _on_path("initdb")):
        if folder and (folder / "initdb").exists():
            return folder
    return None


def _on_path(program: str) -> Path | None:
    found = shutil.which(program)
    return Path(found).resolve().parent if found else None
