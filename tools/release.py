"""Check a release, build it into `dist`, and try it: `make release VERSION=1.2.3`.

The tree must be clean, and its files must agree on the version. The source distribution must hold the tracked
files and nothing else, the wheel those of its packages. Each is installed into an empty environment, where
esr must load and find news. Nothing is published: the script ends by printing the commands for that.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import venv
import zipfile
from pathlib import Path

VERSION = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")
QUERY, ANSWER = "earthquake relief China", "earthquake-relief.s0"
"""A query for the example articles, and the sentence that must come first."""


class ReleaseError(Exception):
    """What is wrong with the release, and what to do."""


def main(arguments: list[str]) -> None:
    if len(arguments) != 1 or not VERSION.fullmatch(arguments[0]):
        raise ReleaseError("name a version such as 1.2.3: make release VERSION=1.2.3")
    (version,) = arguments
    tree = Path(output("git", "rev-parse", "--show-toplevel").strip())
    check_tree(tree, version)
    check_version(tree, version)
    check_changelog(tree, version)
    step("build")
    sdist, wheel = build(tree, version)
    check_contents(tree, sdist, wheel)
    run(sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel))
    for distribution in (sdist, wheel):
        step(f"install {distribution.name} into an empty environment")
        try_installation(tree, distribution, version)
    step("ready. If CI has passed for this commit, publish it:")
    print(f"git tag --annotate v{version} --message 'esr {version}'")
    print(f"git push origin v{version}")
    print(f"twine upload dist/{sdist.name} dist/{wheel.name}", flush=True)


def check_tree(tree: Path, version: str) -> None:
    """The tree is what its commit says, and the version is new."""
    if changes := output("git", "status", "--porcelain", folder=tree):
        raise ReleaseError(f"the tree has changes that are not committed:\n{changes}commit or remove them")
    if output("git", "tag", "--list", f"v{version}", folder=tree):
        raise ReleaseError(f"there is a tag v{version} already: choose the next version")


def check_version(tree: Path, version: str) -> None:
    """The files that say the version agree with it."""
    for file, pattern in (
        ("esr/__init__.py", r'^__version__ = "(.*)"$'),
        ("docker-compose.yml", r"^  image: esr:(.*)$"),
    ):
        versions = re.findall(pattern, (tree / file).read_text("utf-8"), re.MULTILINE)
        if versions != [version]:
            raise ReleaseError(f"{file} says {', '.join(versions) or 'no version'}: make it {version}")


def check_changelog(tree: Path, version: str) -> None:
    """The changelog's first section is the version's, with its date, and nothing is left unreleased."""
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


def build(tree: Path, version: str) -> tuple[Path, Path]:
    """The source distribution, and the wheel built from it."""
    folder = tree / "dist"
    sdist, wheel = folder / f"esr-{version}.tar.gz", folder / f"esr-{version}-py3-none-any.whl"
    for file in (sdist, wheel):
        file.unlink(missing_ok=True)
    run(sys.executable, "-m", "build", "--outdir", str(folder), str(tree))
    for file in (sdist, wheel):
        if not file.is_file():
            raise ReleaseError(f"the build made no {file.name}: look at pyproject.toml")
    return sdist, wheel


def check_contents(tree: Path, sdist: Path, wheel: Path) -> None:
    """Tracked files alone are in the distributions: all in the source, those of its packages in the wheel."""
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


def try_installation(tree: Path, distribution: Path, version: str) -> None:
    """In an empty environment, esr says its version, loads the example articles and finds one."""
    with tempfile.TemporaryDirectory(prefix="esr-release-") as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
        run(str(programs / "pip"), "install", "--quiet", "--disable-pip-version-check", str(distribution))
        esr, index = str(programs / "esr"), str(folder / "index")
        if (said := output(esr, "--version", folder=folder).strip()) != f"esr, version {version}":
            raise ReleaseError(f"esr --version of {distribution.name} says {said!r}")
        run(esr, "load", str(tree / "examples" / "articles.jsonl"), "--index", index, folder=folder)
        found = json.loads(output(esr, "search", QUERY, "--index", index, "-k", "1", "--json", folder=folder))
        sentences = [hit["sentence_id"] for hit in found["hits"]]
        if sentences != [ANSWER]:
            raise ReleaseError(f"a search for {QUERY!r} finds {sentences} first, and not {ANSWER}")


def step(text: str) -> None:
    print(f"== {text}", flush=True)


def environment() -> dict[str, str]:
    """The user's, without what could lead to this tree or to an index of the user's."""
    return {k: v for k, v in os.environ.items() if not k.startswith(("ESR_", "PYTHONPATH", "VIRTUAL_ENV"))}


def run(*command: str, folder: Path | None = None) -> None:
    """Run a command that prints for itself."""
    if subprocess.run(command, cwd=folder, env=environment(), check=False).returncode:
        raise ReleaseError(f"this failed: {' '.join(command)}")


def output(*command: str, folder: Path | None = None) -> str:
    """What a command prints."""
    done = subprocess.run(
        command, cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise ReleaseError(f"this failed: {' '.join(command)}")
    return done.stdout


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except ReleaseError as error:
        sys.exit(f"release: {error}")
