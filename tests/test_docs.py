"""The documentation names what there is."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from esr import features, loaders, models
from esr.cli import main
from esr.cli.reference import build_page, build_table
from esr.encoders import KNOWN
from esr.models import priors
from esr.ranking import boosts
from esr.ranking.ranking import SHIPPED
from esr.text.analyzer import all_definitions
from tests.support.needed import need

ROOT = Path(__file__).resolve().parent.parent
PATHS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES = "\n".join(path.read_text("utf-8") for path in PATHS)
NAMES = {
    "model": models.MODELS,
    "context": models.CONTEXTS,
    "prior": priors.PRIORS,
    "boost": boosts.BOOSTS,
    "feature": features.FEATURES,
    "analyzer": all_definitions(),
    "format": loaders.FORMATS,
    "encoder": KNOWN,
    "shipped ranking": SHIPPED,
    "command": main.commands,
}
SHELL = re.compile(r"^```(?:sh|crontab|ini)\n(.*?)^```", re.MULTILINE | re.DOTALL)


PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
CHECKERS = {
    "mypy": ["--strict", "--follow-imports=silent"],
    "basedpyright": ["--level", "error", "--pythonpath", sys.executable],
}
"""Checks of types that users run, with their options."""


def find_commands(page: str) -> list[str]:
    """What follows `esr` in blocks for the shell, in indented lines, after `$` and in code within a line."""
    page = re.sub(r"sh -c '([^']*)'", r"\1", page.replace("\\\n", " "))
    shell = re.findall(r"(?<![\w.-])esr ([^|;<>\n]+)", "\n".join(SHELL.findall(page)))
    typed = re.findall(r"^(?:    |\$ )esr ([^|;<>\n]+)", page, re.MULTILINE)
    return shell + typed + re.findall(r"`esr ([^`\n]+)`", page)


def parse(line: str) -> None:
    """Raise what click says of unknown commands and options. Nothing is run, and no value is read."""
    command: click.Command = main
    words = shlex.split(line, comments=True)
    while isinstance(command, click.Group) and words:
        context = click.Context(command)
        _, words, _ = command.make_parser(context).parse_args(words)
        _, found, words = command.resolve_command(context, words)
        assert found is not None
        command = found
    _, extra, _ = command.make_parser(click.Context(command)).parse_args(words)
    if extra:
        raise click.UsageError(f"{extra} are too many arguments")


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, names in NAMES.items() for name in names])
def test_the_docs_name_everything_that_is_registered(kind: str, name: str) -> None:
    forms = [f"`{name}`", f"esr {name}", f"### {name}\n", f"| {name} |"]
    assert any(form in PAGES for form in forms), f"no page names the {kind} {name}"


@pytest.mark.parametrize("model", models.MODELS.values(), ids=lambda model: model.name)
def test_the_docs_name_every_parameter_of_a_model(model: models.Model) -> None:
    section = build_page().split(f"### {model.name}\n", 1)[1].split("\n### ", 1)[0]
    for parameter in model.parameters:
        assert f"| `{parameter.name}` |" in section
        assert parameter.range.replace("|", "\\|") in section


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_docs_name_only_commands_and_options_that_there_are(path: Path) -> None:
    for line in find_commands(path.read_text("utf-8")):
        try:
            parse(line)
        except click.UsageError as error:
            pytest.fail(f"esr {line}: {error.format_message()}")


def test_the_reference_is_what_its_generator_prints() -> None:
    written = (ROOT / "docs" / "reference.md").read_text("utf-8")
    assert written == build_page(), "run: python -m esr.cli.reference > docs/reference.md"


def test_the_table_of_analyzers_is_what_its_generator_prints() -> None:
    page = (ROOT / "docs" / "languages.md").read_text("utf-8")
    assert build_table() in page, (
        "run: python -m esr.cli.reference languages, and put the table in docs/languages.md"
    )


def test_the_readme_leads_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert f"docs/{page.name}" in readme


def test_the_python_of_the_features_page_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "features.md").read_text("utf-8")
    code = page.split("```python\n", 1)[1].split("```", 1)[0]
    exec(code, {})
    assert capsys.readouterr().out.strip() == code.rstrip().rpartition("# ")[2]


def test_the_python_of_the_evaluation_page_prints_the_mean_and_p(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "qrels.txt").write_text("1 0 d.s0 1\n2 0 d.s1 1\n", "utf-8")
    (tmp_path / "2si.run").write_text("1 Q0 d.s0 1 2.0 a\n2 Q0 d.s1 1 2.0 a\n", "utf-8")
    (tmp_path / "tfisf.run").write_text("1 Q0 d.s0 1 2.0 b\n2 Q0 d.s0 1 2.0 b\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "evaluation.md").read_text("utf-8")
    exec(page.split("```python\n", 1)[1].split("```", 1)[0], {})
    mean, p = capsys.readouterr().out.split()
    assert (float(mean), float(p)) == (1.0, pytest.approx(0.5))


def test_the_features_page_names_every_feature() -> None:
    page = (ROOT / "docs" / "features.md").read_text("utf-8")
    assert all(f"`{name}`" in page for name in features.FEATURES)


def test_the_changelog_counts_the_languages_that_have_an_analyzer() -> None:
    languages = {definition.languages for definition in all_definitions().values()} - {()}
    assert f"Analyzers for {len(languages)} languages" in (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("checker", CHECKERS)
def test_the_python_of_the_pages_passes_a_check_of_types(checker: str, tmp_path: Path) -> None:
    need(checker)
    for path in PATHS:
        for number, block in enumerate(PYTHON.findall(path.read_text("utf-8"))):
            (tmp_path / f"{path.stem}_{number}.py").write_text(block, "utf-8")
    for path in (ROOT / "examples").glob("*.py"):
        shutil.copy(path, tmp_path)
    programs = sorted(tmp_path.glob("*.py"))
    assert {"README_0.py", "following_0.py", "fastapi_search.py"} <= {path.name for path in programs}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "strict"}), "utf-8")
    shutil.copy(ROOT / "clients" / "esr_client.py", tmp_path)  # as the page says
    command = [sys.executable, "-m", checker, *CHECKERS[checker], *map(str, programs)]
    environment = {**os.environ, "MYPYPATH": str(ROOT), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
