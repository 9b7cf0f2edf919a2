"""The documentation names what there is."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from benchmarks.studies import findings
from esr import features, loaders, models
from esr.cli import main
from esr.encoders import KNOWN
from esr.lab.reproduce.claims import TARGETS
from esr.models.forms import FORMS
from esr.models.priors import PRIORS
from esr.ranking import boosts
from esr.ranking.ranking import SHIPPED
from esr.text.analyzer_definitions import BY_LANGUAGE, all_definitions
from esr.wording import count, format_table, table_lines
from tests.support.command_lines import check_command
from tests.support.runs import need, only_long
from tools.references.commands import build_page, build_table, list_commands
from tools.references.languages import build_capabilities

ROOT = Path(__file__).resolve().parent.parent
PATHS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES = "\n".join(path.read_text("utf-8") for path in PATHS)
NAMES = {
    "model": models.MODELS,
    "context": models.CONTEXTS,
    "prior": PRIORS,
    "boost": boosts.BOOSTS,
    "feature": features.FEATURES,
    "analyzer": [*all_definitions(), BY_LANGUAGE],
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


REFERENCE = cache(build_page)
"""The page of commands, which takes seconds: made once."""


def find_commands(page: str) -> list[str]:
    """What follows `esr` in blocks for the shell, in indented lines, after `$` and in code within a line."""
    page = re.sub(r"sh -c '([^']*)'", r"\1", page.replace("\\\n", " "))
    shell = re.findall(r"(?<![\w.=-])esr ([^|;<>\n]+)", "\n".join(SHELL.findall(page)))
    typed = re.findall(r"^(?:    |\$ )esr ([^|;<>\n]+)", page, re.MULTILINE)
    return shell + typed + re.findall(r"`esr ([^`\n]+)`", page)


@pytest.mark.parametrize("kind", NAMES)
def test_the_docs_name_everything_that_is_registered(kind: str) -> None:
    forms = {name: (f"`{name}`", f"esr {name}", f"### {name}\n", f"| {name} |") for name in NAMES[kind]}
    assert forms and [name for name in forms if not any(form in PAGES for form in forms[name])] == []


@pytest.mark.parametrize("model", models.MODELS.values(), ids=lambda model: model.name)
def test_the_docs_name_every_parameter_of_a_model(model: models.Model) -> None:
    section = REFERENCE().split(f"### {model.name}\n", 1)[1].split("\n### ", 1)[0]
    for parameter in model.parameters:
        assert f"| `{parameter.name}` |" in section
        assert parameter.range.replace("|", "\\|") in section


def test_the_docs_name_only_commands_and_options_that_there_are() -> None:
    wrong = []
    for path in PATHS:
        for line in find_commands(path.read_text("utf-8")):
            try:
                check_command(line)
            except click.UsageError as error:
                wrong.append(f"{path.name}: esr {line}: {error.format_message()}")
    assert wrong == []


def test_the_reference_is_what_its_generator_prints() -> None:
    written = (ROOT / "docs" / "reference.md").read_text("utf-8")
    assert written == REFERENCE(), "run: python -m tools.references.commands > docs/reference.md"


def test_the_reference_has_every_option_of_a_command_in_its_section_or_one_that_it_links() -> None:
    parts = [part.partition("\n") for part in re.split(r"^##+ ", REFERENCE(), flags=re.MULTILINE)]
    sections = {heading: text for heading, _, text in parts}
    for name, command in list_commands(main):
        shown = sections[f"esr {name}"]
        shown += "".join(sections[heading] for heading in re.findall(r"\[(\w+)\]\(#", shown))
        options = [p for p in command.params if isinstance(p, click.Option) and not p.hidden]
        assert not [option.opts[0] for option in options if f"  {option.opts[0]}" not in shown], name


def test_the_table_of_analyzers_is_what_its_generator_prints() -> None:
    page = (ROOT / "docs" / "languages.md").read_text("utf-8")
    assert build_table() in page, (
        "run: python -m tools.references.commands languages, and put the table in docs/languages.md"
    )


def test_the_table_of_what_esr_does_in_each_language_is_what_its_generator_prints() -> None:
    page = (ROOT / "docs" / "languages.md").read_text("utf-8")
    assert build_capabilities() in page, "run: python -m tools.references.languages, and put it in the page"


def test_the_page_of_findings_has_each_one_with_the_verdicts_of_the_studies() -> None:
    written = findings.TARGET.read_text("utf-8")
    assert written == "\n".join(findings.render()), "run: python -m benchmarks.studies.findings"
    for target in TARGETS:
        assert written.count(f"**{target.id}**") == (target.kind == "finding"), target.id


@pytest.mark.parametrize("kind", ["states", "views", "before"])
def test_the_page_of_pictures_shows_every_one_and_no_other(kind: str) -> None:
    page = (ROOT / "docs" / "page-states.md").read_text("utf-8")
    shown = re.findall(rf"\(pictures/{kind}/([\w.-]+)\)", page)
    files = {path.name: path.stat().st_size for path in (ROOT / "docs" / "pictures" / kind).iterdir()}
    assert set(shown) == set(files) and sum(files.values()) < 5_500_000


def test_the_first_page_and_the_table_of_contents_lead_to_every_page() -> None:
    index, contents = ((ROOT / "docs" / name).read_text("utf-8") for name in ("index.md", "_toc.yml"))
    for page in (ROOT / "docs").glob("*.md"):
        assert page.stem == "index" or f"({page.name})" in index.replace("\n", " "), page.name
        assert f"docs/{page.stem}\n" in contents, page.name


def test_a_page_of_start_guides_and_explanation_reads_in_five_minutes() -> None:
    contents = yaml.safe_load((ROOT / "docs" / "_toc.yml").read_text("utf-8"))["subtrees"]
    pages = [
        ROOT / f"{name}.md"
        for tree in contents
        if tree["caption"] in ("Start", "Guides", "Explanation")
        for name in list_pages(tree["entries"])
    ]
    words = {page.stem: len(prose_of(page).split()) for page in pages}
    assert len(words) > 40
    assert {stem: number for stem, number in words.items() if number > 1_500} == {}


def list_pages(entries: list[dict[str, Any]]) -> Iterator[str]:
    """The pages of a part of the table of contents, without the ending of their files."""
    for entry in entries:
        yield entry["file"]
        yield from list_pages(entry.get("entries", []))


def prose_of(page: Path) -> str:
    """The text of a page without its code, its tables and the addresses of its links."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"\]\([^)]*\)", "]", re.sub(r"^\|.*", "", text, flags=re.MULTILINE))


LINKING = [
    *PATHS,
    *(ROOT / name for name in ("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md")),
]


@cache
def anchors_of(page: Path) -> set[str]:
    """What links can lead to, as GitHub makes it of the headings outside of code."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return {anchor_of(title) for title in re.findall(r"^#+ (.+)$", text, re.MULTILINE)}


def anchor_of(title: str) -> str:
    title = re.sub(r"\]\([^)]*\)", "", title)
    return re.sub(r"[^\w -]", "", title).lower().replace(" ", "-")


def test_every_link_of_a_page_leads_to_a_file_and_a_heading() -> None:
    broken = []
    for path in LINKING:
        text = re.sub(r"^```.*?^```", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
            if "://" in link:
                continue
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            if not target.exists() or (anchor and anchor not in anchors_of(target)):
                broken.append(f"{path.name}: {link}")
    assert broken == []


QUESTIONS = {
    "newsroom": [
        ("How do I search for an exact phrase?", "query-language.md", "a sentence must have this phrase"),
        ("How do I see only last week's sentences of one source?", "query-language.md", "`after:7d`"),
        (
            "What has a certain person said about something?",
            "quotations.md",
            'esr quotes "Jan Verhoeven" --about election',
        ),
        ("How am I told when something new appears?", "following.md#alerts", "esr watch"),
        ("How do I get what I found into a spreadsheet?", "following.md#citations-and-files", "CSV, Excel"),
        ("Was it said in these words?", "evidence.md#check-a-quotation", "esr check"),
        ("What speaks for a claim, and what against it?", "evidence.md#evidence-for-a-claim", "esr evidence"),
        ("Does my draft agree with what was printed?", "evidence.md#check-a-draft", "esr check"),
        ("Which paper had this sentence first?", "copies.md", "esr reuse"),
        ("How do I keep what I found, and share it with a colleague?", "dossiers.md", "esr dossier create"),
        ("How am I told by mail when more comes?", "alerts.md", "esr alerts add"),
        ("What do papers in other languages say?", "mixed-languages.md", "languages"),
        ("How do I put a dossier into Word?", "dossiers.md#export-and-import", "esr[word]"),
        ("How do I list the newest first?", "following.md#the-newest-first", "--sort date"),
        ("How do I rank new articles higher?", "ranking.md#freshness", "--ranking latest"),
    ],
    "operator": [
        ("How much memory and disk for a million articles?", "capacity.md", "has 24 sentences"),
        ("How do I load corrected and withdrawn articles?", "operating.md#daily-deliveries", "esr remove"),
        ("How do I back up and restore?", "backups.md#backups-of-a-folder", "esr restore"),
        ("How do I serve with a password and TLS?", "serving.md#behind-a-proxy", "--kind password"),
        ("Does a newer esr read my index?", "operating.md#a-newer-esr", "esr migrate"),
        ("How do I have copies looked for?", "copies.md", "esr enrich --only reuse"),
        ("Where are dossiers kept, and how are they backed up?", "dossiers.md#the-desk", "ESR_DESK"),
        ("Which analyzer does our language have?", "languages.md", "arabic"),
        ("What does esr find in Arabic?", "languages.md#what-there-is-in-each-language", "| ar |"),
        ("Why is my load slow?", "elasticsearch-loads.md#load", "--workers"),
        ("Which version reads this index?", "versions.md#indices", "format 5: searched"),
        ("Does it run on Windows?", "installing.md#python-and-platforms", "WSL 2"),
    ],
    "researcher": [
        ("How do I get MAP of TREC topics?", "evaluation.md#measures", "MAP"),
        ("How do I choose mu?", "evaluation.md#tune", "--grid mu="),
        ("What is the formula of 2SI?", "formulas.md", "stages inverted (2S-I)"),
        ("Is A better than B?", "evaluation.md#is-it-luck", "t-test"),
        ("How do I get features for a learner of my own?", "learning.md#other-learners", "--format letor"),
        ("How do I reproduce a paper's table?", "reproduce.md", "esr reproduce novelty"),
    ],
    "developer": [
        ("How do I search from Python with filters?", "python.md", 'source="Northern Wire"'),
        ("How do I search from JavaScript?", "api.md", "await fetch("),
        ("How do I search Elasticsearch without esr?", "elasticsearch.md#from-a-program", "esr_client.js"),
        ("How do I load what no format fits?", "extending.md#add-a-loader", "`sniff`"),
        ("Which errors do I catch?", "python.md#what-you-can-rely-on", "`esr.EsrError`"),
        ("How does my program log in?", "access.md#programs-and-people", "Authorization: Bearer KEY"),
        ("How do I add a format from a package?", "plugins.md", "formats={"),
    ],
}
"""What each kind of reader asks, where the answer is, and words of it."""


@pytest.mark.parametrize("reader", QUESTIONS)
def test_the_page_of_a_reader_leads_to_answers_in_two_clicks(reader: str) -> None:
    page = (ROOT / "docs" / f"{reader}.md").read_text("utf-8")
    assert f"({reader}.md)" in (ROOT / "docs" / "index.md").read_text("utf-8")
    for question, link, words in QUESTIONS[reader]:
        file, _, anchor = link.partition("#")
        sections = re.split(r"^(?=##+ )", (ROOT / "docs" / file).read_text("utf-8"), flags=re.MULTILINE)
        found = [
            text for text in sections if not anchor or anchor_of(text.splitlines()[0].lstrip("# ")) == anchor
        ]
        assert f"({link})" in page and words in "".join(found), question


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
@pytest.mark.parametrize("checker", [pytest.param("mypy", marks=only_long), "basedpyright"])
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


# The glossary names what the code has.


ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
    for line in (ROOT / "docs" / "glossary.md").read_text("utf-8").splitlines()
    if line.startswith("| ") and not line.startswith(("| term |", "| --- |"))
]
VALUES = {"matching", "context", "all"}
"""Names in the glossary that are values of a setting."""


@cache
def defined() -> set[str]:
    """The names of all classes, functions and type aliases of the project. Parsing it all takes seconds."""
    names = re.compile(r"^(?:(?:class|def) |(?=\w+ = ))(\w+)", re.MULTILINE)
    files = (path for folder in ("esr", "webui") for path in (ROOT / folder).rglob("*.py"))
    return {name for path in files for name in names.findall(path.read_text("utf-8"))}


CODE_NAMES = [name for row in ROWS for name in re.findall(r"`(\w+)`", row[1]) if name not in VALUES]


def test_each_name_in_the_glossary_is_defined_in_the_code() -> None:
    assert CODE_NAMES and [name for name in CODE_NAMES if name not in defined()] == []


def test_a_term_has_one_line_of_three_cells() -> None:
    assert all(len(row) == 3 for row in ROWS)
    terms = [term for row in ROWS for term in row[0].split(", ")]
    assert len(terms) == len(set(terms)) > 50


# CONTRIBUTING.md and docs/extending.md name files that exist, and their model works.


GUIDE = "".join((ROOT / name).read_text("utf-8") for name in ("CONTRIBUTING.md", "docs/extending.md"))
FOLDERS = "esr|webui|tests|docs|index_templates|benchmarks|tools"


def test_every_file_that_the_guide_names_exists() -> None:
    paths = set(re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", GUIDE))
    assert len(paths) > 20
    assert not [path for path in paths if not (ROOT / path).exists()]


def test_every_command_of_make_that_the_guide_names_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    assert set(re.findall(r"`make ([a-z]+)", GUIDE)) <= targets


def test_the_model_of_the_guide_ranks_sentences(tmp_path: Path) -> None:
    (model,) = re.findall(r"```python\n(.*?)```", GUIDE, re.S)
    (tmp_path / "model.py").write_text(model, "utf-8")
    program = """
import model, esr

with esr.load("index", ARTICLES) as index:
    hits = index.search("earthquake relief", k=3, model="example", share=0.4)
    assert len(hits) == 3 and hits[0].score > hits[2].score
"""
    program = program.replace("ARTICLES", repr(str(ROOT / "examples" / "articles.jsonl")))
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_number_has_its_noun() -> None:
    assert [count(n, "run") for n in (0, 1, 22645)] == ["0 runs", "1 run", "22,645 runs"]


def test_a_bar_in_a_cell_does_not_end_it() -> None:
    assert format_table(["a", "b"], [["x|y", "z"]]) == "| a | b |\n| --- | --- |\n| x\\|y | z |\n"


def test_figures_stand_to_the_right() -> None:
    assert list(table_lines(["run", "AP"], [], left=1)) == ["| run | AP |", "| --- | ---: |"]


# docs/formulas.md has all that is cited, no more, and the scores of the worked examples.


PAGE = (ROOT / "docs" / "formulas.md").read_text("utf-8")
CITING_FOLDERS = ("esr", "webui", "tests", "benchmarks", "docs", "index_templates")
SUFFIXES = {".py", ".md", ".html", ".js", ".painless", ".json"}

NUMBER = re.compile(r"(?<![\w.])([A-G])\.(\d{1,2})(?!\w|\.\w)")
RANGE = re.compile(r"(?<![\w.])([A-G])\.(\d{1,2})-\1\.(\d{1,2})(?!\w|\.\w)")
SECTIONS = re.compile(r"\bdocs/formulas\.md, [^;:\"]*?\bsections? ([0A-G])\b(?: and ([A-G])\b)?")
LINK = re.compile(r"\[[^\]]*\]\((?:docs/)?formulas\.md(?:#([\w-]*))?\)")
IRREGULAR = re.compile(
    r"(?<!docs/)\bformulas\.md\b|formulas\.md(?!, )[ ,;(]+(?:sections? )?(?:[A-G]\.\d|[0A-G]\b)"
)
IDS = ("D1.1", "D1.2", "D1.3", "D2.1", "D2.2", "D2.3", "D3.1", "D3.2")


@cache
def citing() -> dict[str, str]:
    """The texts that may cite formulas, by their paths."""
    pages = {ROOT / "docs" / "formulas.md", Path(__file__).resolve()}
    paths = [
        ROOT / "README.md",
        *(path for folder in CITING_FOLDERS for path in sorted((ROOT / folder).rglob("*"))),
    ]
    return {
        str(path.relative_to(ROOT)): path.read_text("utf-8")
        for path in paths
        if path.suffix in SUFFIXES and path not in pages and "data" not in path.parts
    }


@cache
def numbers(text: str) -> set[str]:
    """The formulas that a text cites, those within ranges too."""
    single = {f"{letter}.{number}" for letter, number in NUMBER.findall(text)}
    return single | {
        f"{letter}.{number}"
        for letter, first, last in RANGE.findall(text)
        for number in range(int(first), int(last) + 1)
    }


@cache
def sections(text: str) -> set[str]:
    """The sections that a text cites as a whole."""
    return {letter for match in SECTIONS.findall(text) for letter in match if letter}


@cache
def parts() -> dict[str, str]:
    """The page's text by number. That of a section has its formulas too."""
    found: dict[str, str] = {}
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        if head := re.match(r"[0A-G] ", section):
            found[head[0].strip()] = section
            for part in re.split(r"^### ", section, flags=re.MULTILINE)[1:]:
                name = part.split(" ", 1)[0]
                assert name not in found, f"{name} is there twice"
                found[name] = part
    return found


def anchors() -> set[str]:
    """What links can lead to, as GitHub makes it of the headings."""
    headings = re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def rows(text: str, columns: int) -> Iterator[list[str]]:
    """The cells of the tables' rows that have so many columns."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == columns:
            yield cells


@cache
def scores() -> dict[str, Any]:
    """The scores of the worked examples by run, query and sentence."""
    data = ROOT / "tests" / "data"
    worked = json.loads((data / "worked.json").read_text("utf-8"))
    dependence = json.loads((data / "worked_dependence.json").read_text("utf-8"))
    runs = [*worked["runs"], *worked["adjusted"], *dependence["runs"]]
    return {run["name"]: run["scores"] for run in runs}


def test_every_formula_that_is_cited_is_on_the_page() -> None:
    missing = {path: (numbers(text) | sections(text)) - set(parts()) for path, text in citing().items()}
    assert {path: names for path, names in missing.items() if names} == {}


def test_every_formula_on_the_page_is_cited() -> None:
    cited = {name for text in citing().values() for name in numbers(text) | sections(text)}
    assert set(parts()) - cited == set()


def test_the_page_has_the_formulas_in_the_order_of_their_numbers() -> None:
    order = [name for name in parts() if "." in name]
    assert order == sorted(order, key=lambda name: (name[0], int(name[2:])))
    assert [name for name in parts() if "." not in name] == list("0ABCDEFG")
    assert numbers(PAGE) <= set(parts())


def test_the_page_is_cited_in_one_way() -> None:
    for path, text in citing().items():
        assert not IRREGULAR.search(LINK.sub("", text)), f"{path} does not cite as docs/formulas.md, A.14"
        assert not numbers(text) or "formulas.md" in text, f"{path} cites numbers, and does not say of what"


def test_links_to_and_within_the_page_lead_somewhere() -> None:
    wanted = [(path, name) for path, text in citing().items() for name in LINK.findall(text) if name]
    wanted += [("docs/formulas.md", name) for name in re.findall(r"\]\(#([\w-]+)\)", PAGE)]
    assert wanted and [link for link in wanted if link[1] not in anchors()] == []
    others = [name for name in re.findall(r"\]\(([^)#]+)\)", PAGE) if not (ROOT / "docs" / name).exists()]
    assert others == []


def test_the_files_and_folders_that_the_page_names_exist() -> None:
    named = re.findall(r"`((?:esr|benchmarks|tests)/[\w/.]+)`", PAGE)
    assert named and [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize(
    "entry",
    [*models.MODELS.values(), *PRIORS.values(), *FORMS.values()],
    ids=lambda e: e.name,
)
def test_the_formula_that_a_source_cites_names_what_cites_it(entry: Any) -> None:
    names = numbers(entry.source) | sections(entry.source)
    assert names, f"{entry.name} cites no formula"
    assert any(
        re.search(rf"`{entry.name}`|^    {entry.name} ", parts()[name], re.MULTILINE) for name in names
    )


def test_what_is_worked_by_hand_is_the_score_of_its_run() -> None:
    worked = [cells for cells in rows(parts()["E.2"], 3) if cells[0] in scores()]
    assert len(worked) == 7
    for run, by_hand, score in worked:
        value = eval(by_hand.replace("·", "*"), {"__builtins__": {}, "log": math.log})
        assert f"{value:.4f}" == score == f"{scores()[run]['Q1']['D1.1']:.4f}", run


@pytest.mark.parametrize(("name", "query"), [("E.8", "Q1"), ("E.9", "Q1"), ("E.10", "Q1"), ("E.11", "Q2")])
def test_the_scores_on_the_page_are_those_of_the_worked_examples(name: str, query: str) -> None:
    tables = [cells for cells in rows(parts()[name], 1 + len(IDS)) if cells[0] not in ("run", "---")]
    assert tables
    for run, *shown in tables:
        assert shown == [f"{scores()[run][query][id]:.4f}" for id in IDS], run
