"""The documentation names what there is, and the packages stand on one another as they say."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from esr import analysis, boosts, features, loaders, models, priors
from esr.cli import main
from esr.cli.reference import build_page

ROOT = Path(__file__).resolve().parent.parent
PAGES = "\n".join(
    path.read_text("utf-8") for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
)
NAMES = {
    "model": models.MODELS,
    "context": models.CONTEXTS,
    "prior": priors.PRIORS,
    "boost": boosts.BOOSTS,
    "feature": features.FEATURES,
    "analyzer": analysis.ANALYZERS,
    "format": loaders.FORMATS,
    "command": main.commands,
}


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


def test_the_reference_is_what_its_generator_prints() -> None:
    written = (ROOT / "docs" / "reference.md").read_text("utf-8")
    assert written == build_page(), "run: python -m esr.cli.reference > docs/reference.md"


def test_the_readme_leads_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert f"docs/{page.name}" in readme


def imported(folder: str) -> dict[str, set[str]]:
    """The modules that each file of a folder imports, wherever in the file."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / folder).rglob("*.py")):
        names: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert not node.level, f"{path} imports relatively"
                names |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        found[str(path.relative_to(ROOT))] = names
    assert found
    return found


@pytest.mark.parametrize(
    ("folder", "foreign"),
    [
        ("esr/engines", "esr.models"),
        ("esr/engines", "esr.ranking"),
        ("esr/engines", "esr.cli"),
        ("esr/models", "esr.engines"),
        ("esr/priors", "esr.engines"),
        ("esr/engines", "esr.learning"),
        ("esr/models", "esr.learning"),
        ("esr/ranking", "esr.learning"),
        ("esr/evaluation", "esr.learning"),
        ("esr/learning", "esr.cli"),
        ("webui", "esr.learning"),
        ("esr/engines", "esr.adjustments"),
        ("esr/adjustments", "esr.engines"),
        ("esr/adjustments", "esr.ranking"),
        ("esr/plans", "esr.adjustments"),
        ("esr/dependency", "esr.engines"),
        ("esr/dependency", "esr.ranking"),
        ("esr/plans", "esr.models"),
        ("esr/plans", "esr.engines"),
        ("esr/loaders", "esr.engines"),
        ("esr/documents", "esr.engines"),
        ("esr/features", "esr.engines"),
        ("esr/features", "esr.models"),
        ("esr/enrichment", "esr.engines"),
        ("esr/enrichment", "esr.models"),
        ("esr/engines/embedded", "elasticsearch"),
        ("esr/engines/embedded", "esr.engines.elasticsearch"),
        ("esr/engines/embedded/store", "esr.engines.embedded.load"),
        ("esr/engines/embedded/store", "esr.engines.embedded.index"),
        ("esr/engines/embedded/load", "esr.engines.embedded.search"),
        ("esr/engines/embedded/search", "esr.engines.embedded.load"),
        ("esr/engines/elasticsearch/cluster", "esr.engines.elasticsearch.store"),
        ("esr/engines/elasticsearch/cluster", "esr.engines.elasticsearch.search"),
        ("esr/engines/elasticsearch/cluster", "esr.engines.elasticsearch.load"),
        ("esr/engines/elasticsearch/store", "esr.engines.elasticsearch.search"),
        ("esr/engines/elasticsearch/store", "esr.engines.elasticsearch.load"),
        ("esr/engines/elasticsearch/search", "esr.engines.elasticsearch.load"),
        ("esr/engines/elasticsearch/load", "esr.engines.elasticsearch.search"),
        ("esr/boosts", "esr.ranking"),
        ("esr/boosts", "esr.engines.embedded"),
        ("esr/boosts", "esr.engines.elasticsearch"),
        ("esr/engines", "esr.boosts"),
        ("esr/models", "esr.boosts"),
        ("esr/plans", "esr.boosts"),
        ("webui", "esr.cli"),
        ("webui", "esr.engines.embedded"),
        ("webui", "esr.engines.elasticsearch"),
    ],
)
def test_a_package_knows_nothing_of_what_stands_above_or_beside_it(folder: str, foreign: str) -> None:
    for path, names in imported(folder).items():
        assert not [n for n in names if n == foreign or n.startswith(foreign + ".")], path


def test_only_one_command_and_the_reference_know_the_page() -> None:
    knowing = [p for p, names in imported("esr").items() if any(n.split(".")[0] == "webui" for n in names)]
    assert knowing == ["esr/cli/reference.py", "esr/cli/serve.py"]


def test_the_python_of_the_features_page_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "features.md").read_text("utf-8")
    code = page.split("```python\n", 1)[1].split("```", 1)[0]
    exec(code, {})
    assert capsys.readouterr().out.strip() == code.rstrip().rpartition("# ")[2]


def test_the_features_page_names_every_feature() -> None:
    page = (ROOT / "docs" / "features.md").read_text("utf-8")
    assert all(f"`{name}`" in page for name in features.FEATURES)
