"""Check a release, build it into `dist`, and try it: `make release VERSION=1.2.3`.

The tree must be clean, its files must agree on the version, and an index of its format must be stored for the
tests of later versions. The source distribution must contain exactly the tracked files, the wheel exactly
those of its packages. Each is installed into an empty environment, the wheel also with each extra: there, esr
must load, search and serve. A bill of materials, a list of licences, and the notes of the release (from the
changelog) are written to `dist`. Nothing is published: the script ends by printing the commands for that.
`--all-extras-at-once` tries the wheel with all extras in a single environment, instead of one for each extra.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import socket
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib
import urllib.error
import urllib.request
import venv
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools.index_fixture import fixture

# Run the commands of a release.


class ReleaseError(Exception):
    """The release has a problem. The message says what to do."""


def step(text: str) -> None:
    print(f"== {text}", flush=True)


def environment() -> dict[str, str]:
    """The user's environment variables, except those that name this tree or an index."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("ESR_", "PYTHONPATH", "VIRTUAL_ENV"))}


def run(*command: str, folder: Path | None = None) -> None:
    """Run a command, whose output is shown."""
    if subprocess.run(command, cwd=folder, env=environment(), check=False).returncode:
        raise ReleaseError(f"this failed: {' '.join(command)}")


def output(*command: str, folder: Path | None = None) -> str:
    """The output of a command."""
    done = subprocess.run(
        command, cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise ReleaseError(f"this failed: {' '.join(command)}")
    return done.stdout


# The dependencies of an installation: a bill of materials, and all licences.


_REFUSED = re.compile(r"\b(?:A?GPL|GNU (?:Affero )?General Public)\b", re.IGNORECASE)
_LESSER = re.compile(r"\b(?:LGPL|Lesser)", re.IGNORECASE)
"""Matches the LGPL. An Apache-licensed program may use libraries under the LGPL, but not under the GPL."""
_OWN = ("esr", "pip", "setuptools")


def write_inventory(python: Path, file: Path) -> list[str]:
    """Write the packages of an environment as CycloneDX (JSON), and return lines with their licences.

    A line has a package, its version and its licences.
    Raises ReleaseError for a package without a licence, or with one that is incompatible with that of esr.
    """
    command = ("-m", "cyclonedx_py", "environment", "--output-reproducible", "--of", "JSON", "-o", str(file))
    run(sys.executable, *command, str(python))
    components = json.loads(file.read_text("utf-8"))["components"]
    licences = {component["name"]: list(read_licences(component)) for component in components}
    # Older packages name their licence in a field that the program above ignores.
    metadata = json.loads(output(str(python), "-c", _METADATA))
    for name, found in licences.items():
        found += [] if found else metadata.get(name.lower(), [])
    check_licences(licences)
    versions = {component["name"]: component.get("version", "") for component in components}
    return [f"{name} {versions[name]}: {', '.join(found)}" for name, found in sorted(licences.items())]


def read_licences(component: Mapping[str, Any]) -> Iterator[str]:
    for entry in component.get("licenses", ()):
        if "expression" in entry:
            yield entry["expression"]
        elif name := entry["license"].get("id") or entry["license"].get("name"):
            yield name


def check_licences(licences: Mapping[str, list[str]]) -> None:
    dependencies = {name: found for name, found in licences.items() if name not in _OWN}
    if nameless := sorted(name for name, found in dependencies.items() if not found):
        raise ReleaseError(f"these dependencies name no licence: {', '.join(nameless)}")
    refused = [
        f"{name} ({', '.join(found)})"
        for name, found in dependencies.items()
        if all(_REFUSED.search(each) and not _LESSER.search(each) for each in found)
    ]
    if refused:
        raise ReleaseError(
            f"these dependencies have licences that esr's does not go with: {'; '.join(refused)}"
        )


_METADATA = """
import importlib.metadata as metadata, json
found = {}
for each in metadata.distributions():
    about = each.metadata
    texts = [about.get("License-Expression"), about.get("License")]
    found[about["Name"].lower()] = [text.splitlines()[0][:80] for text in texts if text and text != "UNKNOWN"]
print(json.dumps(found))
"""


# Try a distribution in an empty environment: esr must print its version, load, search and serve.


QUERY, ANSWER = "earthquake relief China", "earthquake-relief.s0"
"""A query for the example articles, and the sentence that must come first."""
_START_SECONDS = 60


@contextmanager
def install(distribution: Path, extras: tuple[str, ...] = ()) -> Iterator[Path]:
    """The folder of programs of a new environment with only a distribution and some of its extras."""
    with tempfile.TemporaryDirectory(prefix="esr-release-") as name:
        venv.create(Path(name) / "venv", with_pip=False)
        programs = Path(name) / "venv" / ("Scripts" if os.name == "nt" else "bin")
        what = f"{distribution}[{','.join(extras)}]" if extras else str(distribution)
        # Python compiles the few modules that are imported.
        run(*_pip(programs), "install", "--quiet", "--no-compile", what)
        yield programs


def _pip(programs: Path) -> tuple[str, ...]:
    """The pip of this environment, working on another one, which then needs none."""
    return (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(programs / "python"))


def try_installation(tree: Path, programs: Path, name: str, version: str) -> None:
    """Raise ReleaseError if esr fails in an environment with the distribution of this name."""
    with tempfile.TemporaryDirectory() as temporary:
        folder, esr, index = Path(temporary), str(programs / "esr"), str(Path(temporary) / "index")
        if (said := output(esr, "--version", folder=folder).strip()) != f"esr, version {version}":
            raise ReleaseError(f"esr --version of {name} says {said!r}")
        run(*_pip(programs), "check")
        run(esr, "load", str(tree / "examples" / "articles.jsonl"), "--index", index, folder=folder)
        check_answer(output(esr, "search", QUERY, "--index", index, "-k", "1", "--json", folder=folder))
        try_server(esr, index, folder)


def check_answer(answer: str) -> None:
    sentences = [hit["sentence_id"] for hit in json.loads(answer)["hits"]]
    if sentences[:1] != [ANSWER]:
        raise ReleaseError(f"a search for {QUERY!r} finds {sentences[:1]} first, and not {ANSWER}")


def try_server(esr: str, index: str, folder: Path) -> None:
    """Check that the server starts, answers a search, and ends on request."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with subprocess.Popen(
        [esr, "serve", "--index", index, "--port", str(port)],
        cwd=folder,
        env=environment(),
        stderr=subprocess.DEVNULL,
    ) as server:
        try:
            check_answer(_ask(f"http://127.0.0.1:{port}/api/v1/search?q={QUERY.replace(' ', '+')}", server))
        finally:
            server.terminate()
            status = server.wait(_START_SECONDS)
    if status:
        raise ReleaseError(f"esr serve ended with {status}")


def _ask(url: str, server: subprocess.Popen[bytes]) -> str:
    end = time.monotonic() + _START_SECONDS
    while server.poll() is None and time.monotonic() < end:
        try:
            with urllib.request.urlopen(url, timeout=_START_SECONDS) as answer:  # nosec B310  # a server of this tool
                text: str = answer.read().decode()
                return text
        except urllib.error.HTTPError as error:
            raise ReleaseError(f"{url} answers {error.code}: {error.read().decode()[:300]}") from error
        except OSError:
            time.sleep(0.2)
    raise ReleaseError(f"esr serve did not answer within {_START_SECONDS} s")


VERSION = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")
_FORMAT = re.compile(r"^FORMAT = (\d+)$", re.MULTILINE)
_FOR_DEVELOPERS = ("bench", "dev")
"""Extras that are useful only in a checkout."""


def main(arguments: list[str]) -> None:
    is_quick = "--all-extras-at-once" in arguments
    names = [argument for argument in arguments if not argument.startswith("--")]
    if len(names) != 1 or not VERSION.fullmatch(names[0]):
        raise ReleaseError("name a version such as 1.2.3: make release VERSION=1.2.3")
    (version,) = names
    tree = Path(output("git", "rev-parse", "--show-toplevel").strip())
    check_tree(tree, version)
    check_version(tree, version)
    notes = check_changelog(tree, version)
    check_index_fixture(tree)
    step("build")
    sdist, wheel = build(tree, version)
    check_contents(tree, sdist, wheel)
    run(sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel))
    extras = user_extras(tree)
    each_alone = () if is_quick else ((wheel, ()), *((wheel, (extra,)) for extra in extras))
    bill, licences = (tree / "dist" / f"esr-{version}{ending}" for ending in (".cdx.json", "-licences.txt"))
    for distribution, chosen in ((sdist, ()), *each_alone, (wheel, extras)):
        step(f"install {distribution.name} {' '.join(chosen)} into an empty environment".replace("  ", " "))
        with install(distribution, chosen) as programs:
            try_installation(tree, programs, distribution.name, version)
            if chosen == extras:
                step("bill of materials and licences of all that users can install")
                licences.write_text("\n".join(write_inventory(programs / "python", bill)) + "\n")
    write_recipes(tree, sdist)
    (tree / "dist" / f"esr-{version}-notes.md").write_text(f"{notes}\n", "utf-8")
    print(licences.read_text(), end="")
    step("ready. If CI has passed for this commit, publish it: .github/workflows/release.yml does the rest.")
    print(f"git tag --annotate v{version} --message 'esr {version}'")
    print(f"git push origin v{version}", flush=True)


def check_tree(tree: Path, version: str) -> None:
    """Check that the tree is clean, and that no other commit has the version."""
    if changes := output("git", "status", "--porcelain", folder=tree):
        raise ReleaseError(f"the tree has changes that are not committed:\n{changes}commit or remove them")
    tag = f"v{version}"
    # The release workflow begins with the tag, which then is that of this commit.
    if output("git", "tag", "--list", tag, folder=tree) and tag not in _tags_of_this_commit(tree):
        raise ReleaseError(f"there is a tag {tag} of another commit already: choose the next version")


def _tags_of_this_commit(tree: Path) -> list[str]:
    return output("git", "tag", "--points-at", "HEAD", folder=tree).split()


_MANIFESTS = ("kubernetes.yaml", "kubernetes-folder.yaml", "kubernetes-load.yaml")
"""The files that run the image in Kubernetes."""


RECIPES = ("deploy/conda/recipe.yaml", "deploy/homebrew/esr.rb")
"""Recipes of other package managers, without the digest of the source archive."""
NO_DIGEST = "0" * 64


def check_version(tree: Path, version: str) -> None:
    """Check that the files that name the version agree with it."""
    for file, pattern in (
        ("esr/__init__.py", r'^__version__ = "(.*)"$'),
        ("CITATION.cff", r"^version: (.*)$"),
        ("docker-compose.yml", r"^  image: esr:(.*)$"),
        ("Dockerfile", r"org\.opencontainers\.image\.version=(\S+)"),
        *((f"deploy/{name}", r"^ +image: esr:(.*)$") for name in _MANIFESTS),
        ("deploy/helm/esr/Chart.yaml", r"^(?:appV|v)ersion: (.*)$"),
        (RECIPES[0], r"^  version: (\d.*)$"),
        (RECIPES[1], r"/esr-(.*)\.tar\.gz"),
    ):
        versions = re.findall(pattern, (tree / file).read_text("utf-8"), re.MULTILINE)
        if {*versions} != {version}:
            raise ReleaseError(f"{file} says {', '.join(versions) or 'no version'}: make it {version}")


def check_index_fixture(tree: Path) -> None:
    """Check that an index of this format is stored for the tests of later versions."""
    text = (tree / "esr/folder/format/manifest.py").read_text("utf-8")
    (format,) = _FORMAT.findall(text)
    file = fixture(int(format))
    if not (tree / file).is_file():
        raise ReleaseError(f"{file} is missing: make it with python -m tools.index_fixture, and commit it")


def user_extras(tree: Path) -> tuple[str, ...]:
    project = tomllib.loads((tree / "pyproject.toml").read_text("utf-8"))["project"]
    return tuple(extra for extra in project["optional-dependencies"] if extra not in _FOR_DEVELOPERS)


def check_changelog(tree: Path, version: str) -> str:
    """Return the changes of the version. The changelog must begin with them, under a heading with a date."""
    parts = re.split(r"^## (.*)\n", (tree / "CHANGELOG.md").read_text("utf-8"), flags=re.MULTILINE)[1:]
    sections = list(zip(parts[::2], (text.strip() for text in parts[1::2]), strict=True))
    if sections and sections[0][0] == "[Unreleased]" and not sections[0][1]:
        del sections[0]
    heading, text = sections[0] if sections else ("", "")
    if not re.fullmatch(rf"\[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d", heading) or not text:
        raise ReleaseError(
            f"CHANGELOG.md begins with the section {heading!r}: make it '[{version}] - YYYY-MM-DD', with the "
            "changes, and leave none under [Unreleased]"
        )
    return text


def build(tree: Path, version: str) -> tuple[Path, Path]:
    """Build the source distribution, and the wheel from it."""
    folder = tree / "dist"
    sdist, wheel = folder / f"esr-{version}.tar.gz", folder / f"esr-{version}-py3-none-any.whl"
    for file in (sdist, wheel):
        file.unlink(missing_ok=True)
    run(sys.executable, "-m", "build", "--outdir", str(folder), str(tree))
    for file in (sdist, wheel):
        if not file.is_file():
            raise ReleaseError(f"the build made no {file.name}: look at pyproject.toml")
    return sdist, wheel


def write_recipes(tree: Path, sdist: Path) -> None:
    """Write the recipes of other package managers beside the source archive, with its digest."""
    digest = hashlib.sha256(sdist.read_bytes()).hexdigest()
    for file in RECIPES:
        text = (tree / file).read_text("utf-8")
        if text.count(NO_DIGEST) != 1:
            raise ReleaseError(f"{file} has no digest of zeros to replace: write 64 zeros as its sha256")
        (sdist.parent / Path(file).name).write_text(text.replace(NO_DIGEST, digest), "utf-8")


def check_contents(tree: Path, sdist: Path, wheel: Path) -> None:
    """Check that the source has exactly the tracked files, and the wheel exactly those of its packages."""
    tracked = set(output("git", "ls-files", "-z", folder=tree).split("\0")) - {""}
    project = tomllib.loads((tree / "pyproject.toml").read_text("utf-8"))
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive if member.isfile()}
    compare(sdist, names - {"PKG-INFO"}, tracked)
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    compare(wheel, names, {file for file in tracked if file.partition("/")[0] in packages})


def compare(distribution: Path, names: set[str], expected: set[str]) -> None:
    if names != expected:
        lacking, foreign = (", ".join(sorted(files)) for files in (expected - names, names - expected))
        raise ReleaseError(f"{distribution.name} lacks [{lacking}] and holds [{foreign}] that is not tracked")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except ReleaseError as error:
        sys.exit(f"release: {error}")
