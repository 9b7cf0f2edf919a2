"""The site of the documentation: `make docs` builds it into build/docs, with warnings as errors.

The source folder is the project's, so that links from pages to its files lead to them, here as in the
repository. _toc.yml has the order of the pages.
"""

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform

import esr

ROOT = Path(__file__).resolve().parents[1]

project = "esr"
version = release = esr.__version__
copyright = "the esr authors, under the Apache License 2.0"

extensions = ["myst_parser", "sphinx_external_toc"]
external_toc_path = str(ROOT / "docs" / "_toc.yml")
root_doc = "docs/index"
include_patterns = ["docs/*.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md"]
include_patterns += ["benchmarks/README.md", "examples/README.md", "examples/plugin/README.md"]
exclude_patterns = [
    ".*",
    "build",
    "clients",
    "deploy",
    "dist",
    "esr",
    "index_templates",
    "tests",
    "tools",
    "webui",
]

myst_heading_anchors = 4
"""Headings have the anchors that GitHub gives them."""

suppress_warnings = ["misc.highlighting_failure"]
"""Pygments does not know a crontab."""

html_theme = "furo"
html_title = f"esr {version}"
html_copy_source = False
html_show_sphinx = False

linkcheck_ignore = [r"https?://(localhost|127\.0\.0\.1|[\w.-]+\.example\b|(app\.)?example\.org)"]


UNSEARCHED = [
    "CHANGELOG",
    "docs/formats-notes",
    "docs/meaning-notes",
    "docs/performance-notes",
    "docs/performance-elasticsearch-notes",
    "docs/figures",
    "docs/feature-gains",
]
"""Pages that the search finds by their titles alone: they name nearly everything, and explain nothing."""


class ShowDarkPictures(SphinxTransform):
    """Show NAME-dark beside a picture NAME where there is one. The theme hides the one that does not fit."""

    default_priority = 200

    def apply(self) -> None:
        folder = Path(self.document["source"]).parent
        for image in list(self.document.findall(nodes.image)):
            path = Path(image["uri"])
            dark = path.with_stem(f"{path.stem}-dark")
            if (folder / dark).is_file():
                twin = image.copy()
                twin["uri"] = str(dark)
                image["classes"].append("only-light")
                twin["classes"] = [*image["classes"][:-1], "only-dark"]
                image.parent.insert(image.parent.index(image) + 1, twin)


def lead_to_first_page(app: Sphinx, error: Exception | None) -> None:
    """The first page is in docs/, as in the repository: index.html of the site leads there."""
    if error is None and app.builder.name == "html":
        refresh = '<meta http-equiv="refresh" content="0; url=docs/index.html">'
        text = f"<!doctype html><title>esr</title>{refresh}\n"
        (Path(app.outdir) / "index.html").write_text(text, "utf-8")


def leave_out_of_search(app: Sphinx, environment: BuildEnvironment) -> None:
    for page in UNSEARCHED:
        environment.metadata[page]["nosearch"] = ""


def setup(app: Sphinx) -> None:
    app.add_transform(ShowDarkPictures)
    app.connect("env-updated", leave_out_of_search)
    app.connect("build-finished", lead_to_first_page)
