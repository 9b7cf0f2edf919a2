"""The release recipe builds what it should from this tree, and refuses what is no release."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import esr
from esr.folder.format import manifest
from tests.support.runs import only_long
from tools import release
from tools.index_fixture import fixture
from tools.release import ReleaseError, check_licences

ROOT = Path(__file__).resolve().parent.parent.parent
VERSION = esr.__version__
CHANGELOG = "## [Unreleased]\n\n## [1.2.3] - 2026-01-31\n\n- A thing.\n\n## [1.2.2] - 2026-01-02\n"


def git(folder: Path, *arguments: str) -> str:
    user = ["-c", "user.name=Test", "-c", "user.email=test@localhost"]
    return subprocess.run(
        ["git", *user, *arguments], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--message", "All")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with all that is checked before anything is built, and right for version 1.2.3."""
    tree = tmp_path / "tree"
    (tree / "esr").mkdir(parents=True)
    (tree / "esr" / "__init__.py").write_text('__version__ = "1.2.3"\n')
    (tree / "CITATION.cff").write_text("cff-version: 1.2.0\nversion: 1.2.3\n")
    (tree / "docker-compose.yml").write_text("x-esr:\n  image: esr:1.2.3\n")
    (tree / "Dockerfile").write_text("LABEL org.opencontainers.image.version=1.2.3 \\\n")
    (tree / "deploy").mkdir()
    for name in ("kubernetes.yaml", "kubernetes-load.yaml"):
        (tree / "deploy" / name).write_text("          image: esr:1.2.3\n")
    (tree / "deploy" / "kubernetes-folder.yaml").write_text("  image: esr:1.2.3\n      image: esr:1.2.3\n")
    chart = tree / "deploy" / "helm" / "esr"
    chart.mkdir(parents=True)
    (chart / "Chart.yaml").write_text("version: 1.2.3\nappVersion: 1.2.3\n")
    (tree / "deploy" / "conda").mkdir()
    (tree / "deploy" / "conda" / "recipe.yaml").write_text(
        f"  version: 1.2.3\n  sha256: {release.NO_DIGEST}\n"
    )
    (tree / "deploy" / "homebrew").mkdir()
    (tree / "deploy" / "homebrew" / "esr.rb").write_text(f"/esr-1.2.3.tar.gz\n {release.NO_DIGEST}\n")
    (tree / "CHANGELOG.md").write_text(CHANGELOG)
    git(tmp_path, "init", "--quiet", str(tree))
    commit(tree)
    return tree


def check(tree: Path, version: str) -> None:
    release.check_tree(tree, version)
    release.check_version(tree, version)
    release.check_changelog(tree, version)


def test_a_tree_that_is_ready_is_accepted(tree: Path) -> None:
    check(tree, "1.2.3")


def test_the_files_of_this_tree_agree_on_its_version() -> None:
    release.check_version(ROOT, esr.__version__)


@pytest.mark.parametrize("version", [[], ["1.2"], ["v1.2.3"], ["1.2.3", "1.2.4"], [""]])
def test_what_is_no_version_is_refused(version: list[str]) -> None:
    with pytest.raises(ReleaseError, match="name a version such as 1"):
        release.main(version)


def test_a_tree_with_changes_is_refused(tree: Path) -> None:
    (tree / "new.py").write_text("")
    with pytest.raises(ReleaseError, match=r"new\.py\ncommit or remove them"):
        check(tree, "1.2.3")


def test_a_version_of_another_commit_is_refused(tree: Path) -> None:
    git(tree, "tag", "v1.2.3")
    check(tree, "1.2.3")  # as in the workflow that the tag starts
    (tree / "new.py").write_text("")
    commit(tree)
    with pytest.raises(ReleaseError, match=r"a tag v1\.2\.3 of another commit already"):
        check(tree, "1.2.3")


@pytest.mark.parametrize(
    "file",
    [
        "esr/__init__.py",
        "CITATION.cff",
        "docker-compose.yml",
        "Dockerfile",
        "deploy/kubernetes.yaml",
        "deploy/kubernetes-load.yaml",
        "deploy/kubernetes-folder.yaml",
        "deploy/helm/esr/Chart.yaml",
        *release.RECIPES,
    ],
)
def test_a_file_of_another_version_is_refused(tree: Path, file: str) -> None:
    (tree / file).write_text((tree / file).read_text().replace("1.2.3", "1.2.2"))
    with pytest.raises(ReleaseError, match=rf"^{re.escape(file)} says 1\.2\.2.*: make it 1\.2\.3"):
        release.check_version(tree, "1.2.3")


@pytest.mark.parametrize(
    "changelog",
    [
        "",
        CHANGELOG.replace("1.2.3", "1.2.4"),
        CHANGELOG.replace(" - 2026-01-31", ""),
        CHANGELOG.replace("- A thing.\n", ""),
        CHANGELOG.replace("[Unreleased]\n", "[Unreleased]\n\n- Another thing.\n"),
        CHANGELOG.replace("[Unreleased]\n", "[Unreleased]: 1.2.3\n"),
    ],
)
def test_a_changelog_without_the_version_first_is_refused(tree: Path, changelog: str) -> None:
    (tree / "CHANGELOG.md").write_text(changelog)
    with pytest.raises(ReleaseError, match=r"make it '\[1\.2\.3\] - YYYY-MM-DD'"):
        release.check_changelog(tree, "1.2.3")


def test_a_distribution_with_a_file_that_is_not_tracked_is_refused() -> None:
    with pytest.raises(ReleaseError, match=r"esr\.whl lacks \[esr/py\.typed\] and holds \[esr/notes\.txt\]"):
        release.compare(Path("esr.whl"), {"esr/a.py", "esr/notes.txt"}, {"esr/a.py", "esr/py.typed"})


def test_the_recipes_of_a_release_have_the_digest_of_its_archive(tree: Path) -> None:
    (tree / "dist").mkdir()
    sdist = tree / "dist" / "esr-1.2.3.tar.gz"
    sdist.write_bytes(b"archive")
    release.write_recipes(tree, sdist)
    for name in ("recipe.yaml", "esr.rb"):
        assert hashlib.sha256(b"archive").hexdigest() in (tree / "dist" / name).read_text()
    release.write_recipes(ROOT, sdist)
    (tree / release.RECIPES[0]).write_text("sha256: 1\n")
    with pytest.raises(ReleaseError, match="has no digest of zeros"):
        release.write_recipes(tree, sdist)


def test_a_format_without_a_kept_index_is_refused(tree: Path) -> None:
    """Nobody could make one of this version when a later one is tested."""
    store = tree / "esr" / "folder" / "format"
    store.mkdir(parents=True)
    (store / "manifest.py").write_text("FORMAT = 7\n")
    with pytest.raises(ReleaseError, match=r"format-7\.tar\.gz is missing: make it with"):
        release.check_index_fixture(tree)
    (tree / fixture(7)).parent.mkdir(parents=True)
    (tree / fixture(7)).touch()
    release.check_index_fixture(tree)


def test_every_extra_that_users_have_is_tried() -> None:
    assert {"enrich", "evaluation", "formats", "learn", "report"} <= set(release.user_extras(ROOT))


@pytest.mark.parametrize(
    "licences",
    [["MIT"], ["LGPL-3.0-or-later"], ["GPL-3.0-only", "MIT"], ["GNU Lesser General Public License v2"]],
)
def test_licences_that_go_with_apache_are_accepted(licences: list[str]) -> None:
    check_licences({"some": licences, "esr": []})


@pytest.mark.parametrize("licence", ["GPL-3.0-or-later", "AGPL-3.0", "GNU General Public License v2"])
def test_licences_that_do_not_are_refused(licence: str) -> None:
    with pytest.raises(ReleaseError, match=re.escape(f"does not go with: some ({licence})")):
        check_licences({"some": [licence], "other": ["MIT"]})


def test_a_dependency_without_a_licence_is_refused() -> None:
    with pytest.raises(ReleaseError, match=r"name no licence: some$"):
        check_licences({"some": [], "other": ["MIT"]})


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """This tree as it is now, in a repository of its own, its changelog ready for the version."""
    if not (ROOT / ".git").exists():
        pytest.skip("a release is made from a git checkout")
    clone = tmp_path / "clone"
    for name in git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        if name and (ROOT / name).exists():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, clone / name)
    (clone / "CHANGELOG.md").write_text(f"# Changelog\n\n## [{VERSION}] - 2026-01-31\n\n- All of this.\n")
    kept = clone / fixture(manifest.FORMAT)  # made when the format is done
    kept.touch()
    git(tmp_path, "init", "--quiet", str(clone))
    commit(clone)
    return clone


@only_long
@pytest.mark.endurance
def test_a_release_of_this_tree_is_built_installed_and_searched(clone: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.release", VERSION, "--all-extras-at-once"],
        cwd=clone,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("loaded 12 documents") == 2
    bill = json.loads((clone / "dist" / f"esr-{VERSION}.cdx.json").read_text())
    assert {"esr", "numpy", "spacy", "lightgbm"} <= {component["name"] for component in bill["components"]}
    assert (clone / "dist" / f"esr-{VERSION}-notes.md").read_text() == "- All of this.\n"
    assert f"git tag --annotate v{VERSION}" in done.stdout
    assert not git(clone, "status", "--porcelain")
    with zipfile.ZipFile(clone / "dist" / f"esr-{VERSION}-py3-none-any.whl") as wheel:
        assert {"esr/py.typed", "webui/py.typed"} <= set(wheel.namelist())
        metadata = wheel.read(f"esr-{VERSION}.dist-info/METADATA").decode()
    assert "\nRequires-Dist: numba>=0.60; platform_python_implementation ==" in metadata
    with tarfile.open(clone / "dist" / f"esr-{VERSION}.tar.gz") as sdist:
        assert f"esr-{VERSION}/tests/tools/test_release.py" in sdist.getnames()
