"""docker-compose.yml is valid and says what it should.

Docker's own program checks it where there is one. What it must say is looked up in the file by a small
reader of the part of YAML that the file uses, so that no YAML library is needed for one test.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.docker import IMAGE

ROOT = Path(__file__).resolve().parent.parent
COMPOSE = (ROOT / "docker-compose.yml").read_text("utf-8")


def program() -> list[str] | None:
    """The command that understands compose files, or None."""
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]):
            done = subprocess.run([*command, "version"], capture_output=True, check=False)
            if done.returncode == 0:
                return command
    return None


def values(text: str) -> dict[str, list[str]]:
    """Values by path, as `services.esr.ports`. Lists are lists of values; a block's lines are joined."""
    found: dict[str, list[str]] = {}
    path: list[tuple[int, str]] = []
    for line in text.splitlines():
        content = line.strip()
        if not content or content.startswith("#"):
            continue
        assert "\t" not in line, "YAML knows no tabs"
        depth = len(line) - len(line.lstrip())
        key = re.match(r"([\w.-]+|<<):(?: (.*))?$", content)
        while path and path[-1][0] >= depth and (key or path[-1][0] > depth):
            path.pop()
        where = ".".join(name for _, name in path)
        if key:
            path.append((depth, key[1]))
            where = ".".join(name for _, name in path)
            content = key[2] or ""
        if content:
            found.setdefault(where, []).append(content.removeprefix("- ").strip('"'))
        else:
            found.setdefault(where, [])
    return found


@pytest.fixture(scope="module")
def compose() -> dict[str, list[str]]:
    return values(COMPOSE)


def test_docker_accepts_it() -> None:
    command = program()
    if command is None:
        pytest.skip("no docker compose here: the other tests look at the file's text alone")
    done = subprocess.run([*command, "config"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "elasticsearch:9" in done.stdout


def test_elasticsearch(compose: dict[str, list[str]]) -> None:
    """The image of the tests, checked for health, with a volume of its own, a heap and a limit above it."""
    service = "services.elasticsearch"
    assert compose[f"{service}.image"] == [IMAGE]
    assert "_cluster/health" in compose[f"{service}.healthcheck.test"][0]
    volume = compose[f"{service}.volumes"][0].split(":")[0]
    assert f"volumes.{volume}" in compose
    heap = re.fullmatch(r"-Xms(\d)g -Xmx(\d)g", compose[f"{service}.environment.ES_JAVA_OPTS"][0])
    assert heap and heap[1] == heap[2]
    assert int(compose[f"{service}.mem_limit"][0].rstrip("g")) >= 2 * int(heap[1])
    assert compose[f"{service}.environment.discovery.type"] == ["single-node"]


def test_without_a_login_nothing_is_open_to_the_network(compose: dict[str, list[str]]) -> None:
    ports = [port for path, values in compose.items() if path.endswith(".ports") for port in values]
    assert len(ports) == 2
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_page_waits_for_an_index(compose: dict[str, list[str]]) -> None:
    assert compose["x-esr.environment.ESR_INDEX"] == ["http://elasticsearch:9200/news"]
    assert compose["x-esr.build"] == ["."]
    for service in ("load", "esr"):
        assert compose[f"services.{service}.<<"] == ["*esr"]
        assert compose[f"services.{service}.depends_on.elasticsearch.condition"] == ["service_healthy"]
    assert compose["services.esr.depends_on.load.condition"] == ["service_completed_successfully"]
    assert "esr serve --host 0.0.0.0 --port 8080" in compose["services.esr.command"]
    assert "/healthz" in compose["services.esr.healthcheck.test"][0]
    load = "\n".join(compose["services.load.command"])
    assert load.index("esr status && exit") < load.index("example_news") < load.index("esr load")


def test_the_image_has_all_that_it_copies() -> None:
    """What the Dockerfile copies is there and let through by .dockerignore; nothing runs as root."""
    dockerfile = (ROOT / "Dockerfile").read_text("utf-8")
    allowed = {
        line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").split() if line.startswith("!")
    }
    copied = {name for line in re.findall(r"^COPY (.*)$", dockerfile, re.M) for name in line.split()[:-1]}
    assert copied == allowed
    assert all((ROOT / name).exists() for name in copied)
    assert re.search(r"^USER esr$", dockerfile, re.M)
    assert dockerfile.index("USER esr") < dockerfile.index("CMD")
