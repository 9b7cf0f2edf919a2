"""Check a release, build it into `dist`, and try it: `make release VERSION=1.2.3`.

The tree must be clean, its files must agree on the version, and an index of its format must be kept for later
versions. The source distribution must hold the tracked files and nothing else, the wheel those of its
packages. Each is installed into an empty environment, the wheel also with each extra: there, esr must load,
search and serve. What comes along is written to `dist` as a bill of materials and a list of licences. Nothing
is published: the script ends by printing the commands for that.
"""

from __future__ import annotations

import re
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

from tools.index_fixture import fixture
from tools.release_commands import ReleaseError, output, run, step
from tools.release_inventory import write_inventory
from tools.release_trial import install, try_installation

VERSION = re.compile(r"\d+\.\d+\.\d+((a|b|rc)\d+)?")
_FORMAT = re.compile(r"^FORMAT = (\d+)$", re.MULTILINE)
_FOR_DEVELOPERS = ("bench", "dev")
"""Extras that are of use in a checkout alone."""


def main(arguments: list[str]) -> None:
    if len(arguments) != 1 or not VERSION.fullmatch(arguments[0]):
        raise ReleaseError("name a version such as 1.2.3: make release VERSION=1.2.3")
    (version,) = arguments
    tree = Path(output("git", "rev-parse", "--show-toplevel").strip())
    check_tree(tree, version)
    check_version(tree, version)
    check_changelog(tree, version)
    check_index_fixture(tree)
    step("build")
    sdist, wheel = build(tree, version)
    check_contents(tree, sdist, wheel)
    run(sys.executable, "-m", "twine", "check", "--strict", str(sdist), str(wheel))
    extras = user_extras(tree)
    for distribution, extra in ((sdist, ()), (wheel, ()), *((wheel, (extra,)) for extra in extras)):
        step(f"install {distribution.name} {' '.join(extra)} into an empty environment".replace("  ", " "))
        try_installation(tree, distribution, version, extra)
    step("bill of materials and licences of all that users can install")
    bill, licences = (tree / "dist" / f"esr-{version}{ending}" for ending in (".cdx.json", "-licences.txt"))
    with install(wheel, extras) as programs:
        licences.write_text("\n".join(write_inventory(programs / "python", bill)) + "\n")
    print(licences.read_text(), end="")
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
        ("Dockerfile", r"org\.opencontainers\.image\.version=(\S+)"),
        ("deploy/kubernetes.yaml", r"^ +image: esr:(.*)$"),
    ):
        versions = re.findall(pattern, (tree / file).read_text("utf-8"), re.MULTILINE)
        if versions != [version]:
            raise ReleaseError(f"{file} says {', '.join(versions) or 'no version'}: make it {version}")


def check_index_fixture(tree: Path) -> None:
    """An index of this format is kept: later versions are tested with it."""
    text = (tree / "esr/folder/format/manifest.py").read_text("utf-8")
    (format,) = _FORMAT.findall(text)
    file = fixture(int(format))
    if not (tree / file).is_file():
        raise ReleaseError(f"{file} is missing: make it with python tools/index_fixture.py, and commit it")


def user_extras(tree: Path) -> tuple[str, ...]:
    project = tomllib.loads((tree / "pyproject.toml").read_text("utf-8"))["project"]
    return tuple(extra for extra in project["optional-dependencies"] if extra not in _FOR_DEVELOPERS)


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


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except ReleaseError as error:
        sys.exit(f"release: {error}")
