"""The workflows of GitHub are safe, and the targets of make that publish a release do what they should."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import threading
import tomllib
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.runs import end_test, need

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".github" / "workflows"
FILES = sorted(FOLDER.glob("*.yml"))
RELEASE = yaml.safe_load((FOLDER / "release.yml").read_text("utf-8"))
JOBS: dict[str, Any] = RELEASE["jobs"]
ON_TAG = "github.event_name == 'push'"
VERSION = "1.2.3"


def test_zizmor_finds_nothing() -> None:
    program = Path(sys.executable).with_name("zizmor")
    if not program.exists():
        end_test("needs zizmor: pip install -e '.[dev]'")
    command = [str(program), "--offline", "--no-progress", "--strict-collection", str(FOLDER)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_action_is_pinned_by_one_digest_with_its_version() -> None:
    uses = [line for path in FILES for line in re.findall(r"uses: *(.*)", path.read_text("utf-8"))]
    pins = {line: re.fullmatch(r"([\w-]+/[\w-]+)@[0-9a-f]{40} # v\d+\.\d+\.\d+", line) for line in uses}
    assert not [line for line, pin in pins.items() if not pin]
    actions = [pin[1] for pin in pins.values() if pin]
    assert len(actions) == len(set(actions)), "an action has two versions"


def commands(job: str) -> list[str]:
    return [step["run"] for step in JOBS[job]["steps"] if "run" in step]


def test_a_release_is_built_once_and_each_step_is_a_target_of_make() -> None:
    assert [job for job in JOBS if any("make release" in command for command in commands(job))] == ["build"]
    for job in JOBS:
        for command in commands(job):
            assert command.startswith("make "), command
    assert JOBS["image"]["needs"] == "build" and JOBS["publish"]["needs"] == ["build", "image"]


def test_a_dry_run_publishes_nothing() -> None:
    """Only the build of the distributions and of the image run, and these do not leave the machine."""
    assert RELEASE["permissions"] == {}
    assert {job for job in JOBS if JOBS[job].get("if") != ON_TAG} == {"build", "image"}
    assert JOBS["build"]["permissions"] == {"contents": "read"}
    for step in JOBS["image"]["steps"]:
        if re.match("docker/login|actions/attest", step.get("uses", "")):
            assert step["if"] == ON_TAG
    (pushes,) = [step["env"]["PUSH"] for step in JOBS["image"]["steps"] if "env" in step]
    assert pushes == f"${{{{ {ON_TAG} && 'yes' || 'no' }}}}"


def make(*arguments: str, tree: Path, programs: Path | None = None, **settings: str) -> str:
    """What a target prints, with programs that stand in for others of their name."""
    path = f"{programs}{os.pathsep}{os.environ['PATH']}" if programs else os.environ["PATH"]
    done = subprocess.run(
        ["make", "--no-print-directory", "-f", str(ROOT / "Makefile"), *arguments, f"VERSION={VERSION}"],
        cwd=tree,
        env={**os.environ, "PATH": path, **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def stand_in(programs: Path, name: str, text: str) -> None:
    programs.mkdir(exist_ok=True)
    (programs / name).write_text(f"#!{sys.executable}\nimport json, sys\n{text}")
    (programs / name).chmod(0o755)


DOCKER = """
metadata = sys.argv[sys.argv.index("--metadata-file") + 1]
json.dump({"containerimage.digest": "sha256:" + "ab" * 32, "arguments": sys.argv[1:]}, open(metadata, "w"))
"""


@pytest.mark.slow
@pytest.mark.parametrize("push", ["yes", "no"])
def test_the_image_is_for_two_architectures_with_sbom_and_provenance(tmp_path: Path, push: str) -> None:
    stand_in(tmp_path / "programs", "docker", DOCKER)
    make("image", f"PUSH={push}", "IMAGE=ghcr.io/some/esr", tree=tmp_path, programs=tmp_path / "programs")
    arguments = json.loads((tmp_path / "build" / "image.json").read_text())["arguments"]
    assert {"--sbom=true", "--provenance=mode=max", "linux/amd64,linux/arm64"} <= set(arguments)
    assert arguments[arguments.index("--tag") + 1] == f"ghcr.io/some/esr:{VERSION}"
    target = arguments[arguments.index("--output") + 1]
    assert target == ("type=registry" if push == "yes" else "type=oci,dest=build/image.tar")
    # The line that the workflow hands to the attestation.
    assert make("--silent", "image-digest", tree=tmp_path) == f"digest=sha256:{'ab' * 32}\n"


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    """The distributions of a small project, with what a release has beside them."""
    folder = tmp_path / "dist"
    folder.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: esr\nVersion: {VERSION}\n"
    with zipfile.ZipFile(folder / f"esr-{VERSION}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"esr-{VERSION}.dist-info/METADATA", metadata)
        wheel.writestr(f"esr-{VERSION}.dist-info/WHEEL", "Wheel-Version: 1.0\n")
        wheel.writestr(f"esr-{VERSION}.dist-info/RECORD", "")
    (tmp_path / "PKG-INFO").write_text(metadata)
    with tarfile.open(folder / f"esr-{VERSION}.tar.gz", "w:gz") as sdist:
        for name in ("PKG-INFO", "pyproject.toml"):
            sdist.add(tmp_path / "PKG-INFO", f"esr-{VERSION}/{name}")
    for ending in ("-notes.md", ".cdx.json", "-licences.txt"):
        (folder / f"esr-{VERSION}{ending}").write_text("- A thing.\n")
    return folder


@pytest.mark.slow
def test_groups_of_packages_are_installed_by_the_pip_of_the_environment(tmp_path: Path) -> None:
    """That of the system may be too old for groups, or missing as on Debian."""
    said = make("-n", "advisories", "publish", tree=tmp_path, PYTHON=sys.executable).splitlines()
    installs = [line.split()[0] for line in said if "--group" in line]
    assert installs == [".venv/bin/pip"] * 2


@pytest.mark.slow
def test_fuzzing_fails_if_its_targets_cannot_be_listed(tmp_path: Path) -> None:
    programs = tmp_path / "programs"
    stand_in(programs, "python", "sys.exit(sys.argv[1] == '-m')")  # imports atheris, and lists nothing
    arguments = ["make", "-f", str(ROOT / "Makefile"), "-o", "kernel", f"BIN={programs}", "fuzz"]
    assert subprocess.run(arguments, cwd=tmp_path, capture_output=True, check=False).returncode


GH = """
import pathlib
assert sys.argv[1:4] == ["release", "create", "v1.2.3"] and "--verify-tag" in sys.argv
print(pathlib.Path(sys.argv[sys.argv.index("--notes-file") + 1]).read_text())
print(*(path for path in sys.argv if path.startswith("dist/") and pathlib.Path(path).is_file()))
"""


@pytest.mark.slow
def test_the_announcement_has_the_notes_and_all_files(dist: Path, tmp_path: Path) -> None:
    stand_in(tmp_path / "programs", "gh", GH)
    said = make("announce", tree=tmp_path, programs=tmp_path / "programs").splitlines()
    assert "- A thing." in said
    assert set(said[-1].split()) == {f"dist/{path.name}" for path in dist.iterdir()}


@pytest.mark.slow
def test_twine_uploads_the_distributions_with_their_attestations(dist: Path, tmp_path: Path) -> None:
    """To a server of this machine: signing, and the token of a trusted publisher, need GitHub."""
    need("twine")
    lines = make("-n", "publish", tree=tmp_path, PYTHON=sys.executable).replace("\\\n", "").splitlines()
    (sign,) = (line.split() for line in lines if "pypi_attestations" in line)
    (upload,) = (line.split() for line in lines if "twine upload" in line)
    assert sign[1:4] == ["-m", "pypi_attestations", "sign"]
    paths = [dist / Path(name).name for name in sign[4:]]
    assert all(path.is_file() for path in paths)
    for path in paths:
        attestation = {"version": 1, "verification_material": {}, "envelope": {"of": path.name}}
        path.with_name(f"{path.name}.publish.attestation").write_text(json.dumps(attestation))
    bodies: list[bytes] = []

    class Index(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Index)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        done = subprocess.run(
            [sys.executable, *upload[1:]],
            cwd=tmp_path,
            env={
                **os.environ,
                "TWINE_REPOSITORY_URL": f"http://127.0.0.1:{server.server_port}/",
                "TWINE_USERNAME": "__token__",
                "TWINE_PASSWORD": "none",
            },
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        server.shutdown()
        server.server_close()
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(bodies) == len(paths) == 2
    for path in paths:
        assert any(f'"of": "{path.name}"'.encode() in body for body in bodies), path


def test_the_publishing_group_is_part_of_what_developers_have() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    names = {re.split(r"[<>=;]", need)[0] for need in project["project"]["optional-dependencies"]["dev"]}
    assert {re.split(r"[<>=;]", need)[0] for need in project["dependency-groups"]["publish"]} <= names
