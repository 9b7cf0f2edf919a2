"""The documentation names what there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from esr import analysis, boosts, features, loaders, models, priors
from esr.cli import main
from esr.cli.languages import build_table
from esr.cli.reference import build_page
from esr.encoders import KNOWN
from esr.ranking.shipped import SHIPPED

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
    "analyzer": analysis.all_definitions(),
    "format": loaders.FORMATS,
    "encoder": KNOWN,
    "shipped ranking": SHIPPED,
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


def test_the_table_of_analyzers_is_what_its_generator_prints() -> None:
    page = (ROOT / "docs" / "languages.md").read_text("utf-8")
    assert build_table() in page, "run: python -m esr.cli.languages, and put the table in docs/languages.md"


def test_the_readme_leads_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert f"docs/{page.name}" in readme


def test_the_python_of_the_features_page_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "features.md").read_text("utf-8")
    code = page.split("```python\n", 1)[1].split("```", 1)[0]
    exec(code, {})
    assert capsys.readouterr().out.strip() == code.rstrip().rpartition("# ")[2]


def test_the_features_page_names_every_feature() -> None:
    page = (ROOT / "docs" / "features.md").read_text("utf-8")
    assert all(f"`{name}`" in page for name in features.FEATURES)
