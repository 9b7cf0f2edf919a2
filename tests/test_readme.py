"""The README's commands are run as they stand."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlencode

import pytest

from esr.cli import main
from esr.encoders import EncoderDescription
from tests.support.distribution import find_maven
from tests.support.process import free_ports
from tools import demo

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")
SERVER = "http://localhost:9200"
ESR = [sys.executable, "-c", "from esr.cli import main; main(prog_name='esr')"]
(CURL,) = re.findall(r"`curl '([^']+)'`", README)
SERVED = "http://localhost:8080"
OUTSIDE_OF_MAKE = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
"""The variables without those of a make that runs the tests."""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def sessions() -> list[tuple[str, list[str]]]:
    """The commands after `$`, each with the lines that it prints; `…` stands for lines that are left out."""
    block = "\n".join(blocks("console"))
    commands = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(command, lines) for command, *lines in (text.splitlines() for text in commands)]


def tables() -> list[list[str]]:
    """The lines of each table."""
    return [block.splitlines() for block in re.findall(r"(?:^\|.*\n)+", README, re.MULTILINE)]


def elasticsearch_commands() -> list[list[str]]:
    return [shlex.split(line) for block in blocks("sh") for line in block.splitlines() if SERVER in line]


def without_times(text: str) -> str:
    return re.sub(r"\b[\d.]+ (m?s)\b", r"0 \1", text)


def run(command: list[str], folder: Path) -> str:
    done = subprocess.run(
        [*ESR, *command[1:]],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, f"{shlex.join(command)}: {done.stderr}"
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


@pytest.mark.slow
def test_the_commands_of_the_readme_print_what_it_says(folder: Path) -> None:
    for command, lines in sessions():
        first, _, rest = command.partition(" | ")
        output = run(shlex.split(first), folder)
        if rest:
            output = subprocess.run(rest, shell=True, input=output, capture_output=True, text=True).stdout
        shown = [without_times(line) for line in lines if line != "…"]
        printed = iter(without_times(output).splitlines())
        assert shown and all(line in printed for line in shown), f"{command}:\n{output}"
    assert len(sessions()) == 2
    for block, answer in zip(blocks("python"), blocks("text"), strict=True):
        done = subprocess.run([sys.executable, "-c", block], cwd=folder, capture_output=True, text=True)
        assert (done.stdout, done.stderr) == (answer, "")


def test_the_elasticsearch_commands_of_the_readme_work(elasticsearch_url: str, folder: Path) -> None:
    alias = f"readme-{os.getpid()}"
    for command in elasticsearch_commands():
        there = [part.replace(f"{SERVER}/news", f"{elasticsearch_url}/{alias}") for part in command]
        assert run(there, folder)
    assert len(elasticsearch_commands()) == 5


@pytest.mark.slow
def test_the_document_of_the_first_page_is_one_that_esr_reads(folder: Path) -> None:
    start = (ROOT / "docs" / "start.md").read_text("utf-8")
    (document,) = re.findall(r"^```json\n(.*?)^```", start, re.MULTILINE | re.DOTALL)
    (folder / "one.jsonl").write_text(document, "utf-8")
    run(["esr", "load", "one.jsonl", "--index", "one"], folder)
    shown = run(["esr", "search", "towns", "--index", "one", "--json"], folder)
    assert json.loads(shown)["hits"][0]["sentence_id"] == "a1.s1"


def test_the_table_of_the_readme_has_figures_of_the_results() -> None:
    results = (ROOT / "docs" / "results.md").read_text("utf-8").partition("## AP\n")[2].replace("\\*", "")
    figures_of: dict[tuple[str, str], str] = {}
    heads: list[str] = []
    for line in results.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if cells[:1] == ["ranking"]:
            heads = cells
        for head, cell in zip(heads, cells, strict=False):
            figures_of.setdefault((cells[0], head), cell)  # tables of AP come first
    names, _, *shown = ([cell.strip() for cell in line.split("|")[1:-1]] for line in tables()[0])
    assert len(shown) >= 5
    for ranking, *figures in shown:
        name = ranking.partition(" (")[0]
        assert figures == [figures_of[name, f"{collection}, default"] for collection in names[1:]]


def test_the_table_of_hybrid_has_lines_of_the_notes_on_meaning() -> None:
    (table,) = tables()[1:]
    notes = (ROOT / "docs" / "meaning-notes.md").read_text("utf-8").splitlines()
    assert any("hybrid" in line for line in table) and all(line in notes for line in table)


def test_the_pictures_of_the_readme_exist() -> None:
    pictures = re.findall(r'src(?:set)?="([^"]+)"', README)
    assert len(pictures) == 4 and all((ROOT / picture).stat().st_size for picture in pictures)


def installed(folder: Path) -> Path:
    """An environment for make that leads to the present one: nothing is installed."""
    programs = {
        "python": f'exec {shlex.quote(sys.executable)} "$@"\n',
        "esr": f'exec {shlex.quote(sys.executable)} -c {shlex.quote(" ".join(ESR[2:]))} "$@"\n',
    }
    (folder / "bin").mkdir(parents=True)
    for name, program in programs.items():
        (folder / "bin" / name).write_text(f"#!/bin/sh\n{program}")
        (folder / "bin" / name).chmod(0o755)
    (folder / "installed").touch()
    return folder


SERVES = r"esr serves \S+ at (http://\S+)/$"


@contextmanager
def served(
    command: list[str], folder: Path, until: str = SERVES, **variables: str
) -> Iterator[tuple[str, str]]:
    """Runs a command that serves until it prints a line. Gives what it printed, and where it serves."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=OUTSIDE_OF_MAKE | {"PYTHONPATH": str(ROOT), **variables},
        start_new_session=True,
    )
    output = ""
    try:
        assert process.stdout
        for line in process.stdout:
            output += line
            if re.match(until, line):
                break
        found = re.search(SERVES, output, re.MULTILINE)
        if found is None or process.poll() is not None:
            pytest.fail(f"{shlex.join(command)}: {output}")
        yield output, found[1]
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)


def log_in(address: str, name: str, password: str, following: str) -> str:
    """The page that follows a login."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    with browser.open(f"{address}/login", timeout=60) as form:
        (csrf,) = set(re.findall(r'name="csrf" value="([^"]+)"', form.read().decode()))
    fields = {"csrf": csrf, "next": following, "name": name, "password": password}
    with browser.open(f"{address}/login", urlencode(fields).encode(), timeout=60) as answer:
        page: str = answer.read().decode()
    return page


def fetch_hits(address: str) -> list[dict[str, str]]:
    """The hits of the request that the README makes with curl, at this server."""
    with urllib.request.urlopen(address + CURL.removeprefix(SERVED), timeout=60) as answer:
        hits: list[dict[str, str]] = json.load(answer)["hits"]
    return hits


@pytest.mark.slow
def test_make_demo_loads_news_answers_queries_and_serves_them(tmp_path: Path) -> None:
    variables = [f"VENV={installed(tmp_path / 'venv')}", f"DEMO={tmp_path / 'demo'}", "PORT=0"]
    make = ["make", "--no-print-directory", "demo", *variables]
    offline = {"PIP_NO_INDEX": "1", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    with served(make, ROOT, until="== quotations are ready", **offline) as (output, address):
        assert "writing the twelve articles of examples/ instead" in output
        answers = output.partition("=== ")[2].split("=== ")
        assert len(answers) == 3
        assert all(" candidates, " in answer for answer in answers)
        assert fetch_hits(address)
        links = re.findall(r"^  .+  (http://\S+)$", output.partition("five things to try")[2], re.MULTILINE)
        assert len(links) == 5
        answered = []
        for link in links:
            with urllib.request.urlopen(link, timeout=60) as page:
                answered.append("data-sentence-id" in page.read().decode())
        assert answered[0] and answered[3], "a search, and who said it"
        (password,) = re.findall(r"log in as reader with the password (\S+)", output)
        assert '<h1 class="title">Dossiers</h1>' in log_in(address, "reader", password, "/dossiers")
        assert "webui.audit" not in output
    again = subprocess.run(
        [*make, "SERVE=no"], cwd=ROOT, env=OUTSIDE_OF_MAKE, capture_output=True, text=True, check=False
    )
    assert again.returncode == 0, again.stderr
    assert again.stdout.count("=== ") == 3
    assert "esr load" not in again.stdout and "esr serves" not in again.stdout


def test_the_demonstration_begins_with_the_newest_article(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dates = ["2017-01-02", "2017-03-04", "", "2017-02-03"]
    news = tmp_path / "news.jsonl"
    news.write_text("".join(f'{{"id": "{n}", "date": "{date}"}}\n' for n, date in enumerate(dates)))
    demo.print_newest_first(news)
    printed = [json.loads(line)["id"] for line in capsys.readouterr().out.splitlines()]
    assert printed == ["1", "3", "0", "2"]


@pytest.mark.slow
def test_what_the_readme_fetches_is_served_as_it_says(folder: Path) -> None:
    (command,) = re.findall(r"`(esr serve --index [^`]+)`", README)
    run(shlex.split(sessions()[0][0]), folder)
    with served([*ESR, *shlex.split(command)[1:], "--port", str(free_ports(1)[0])], folder) as (_, address):
        assert fetch_hits(address)
    (port,) = (option.default for option in main.commands["serve"].params if option.name == "port")
    assert f"http://localhost:{port}" == SERVED


def test_every_target_that_the_readme_names_is_in_the_makefile() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)", README, re.MULTILINE))
    assert {"demo", "docs", "quick", "test"} <= named <= targets


def test_the_pages_that_the_readme_links_to_exist() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert links and all((ROOT / link.partition("#")[0]).exists() for link in links)


# The commands and the encoder of docs/meaning.md and docs/encoders.md are run, with the real default encoder.


PAGE = "".join((ROOT / "docs" / name).read_text("utf-8") for name in ("meaning.md", "encoders.md"))


def blocks_of_meaning(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.slow
def test_the_commands_of_the_page_work_in_their_order(folder: Path) -> None:
    find_maven()
    shutil.copy(folder / "examples" / "articles.jsonl", folder / "news.jsonl")
    run(["esr", "load", "news.jsonl", "--index", "my-index"], folder)
    commands = [
        line
        for block in blocks_of_meaning("sh")
        for line in block.splitlines()
        if line.startswith("esr ") and SERVER not in line
    ]
    for line in commands:
        command = shlex.split(line)
        if command[1] == "load":
            command += ["--if-exists", "replace"]
        assert run(command, folder), line
    assert len(commands) >= 4
    by_meaning = ["esr", "search", "seismic shock", "--index", "my-index", "--ranking", "hybrid", "--json"]
    hits = json.loads(run(by_meaning, folder))["hits"]
    assert "earthquake" in hits[0]["document_id"], "found without a word in common"


def test_the_description_on_the_page_is_one_that_esr_reads() -> None:
    (block,) = blocks_of_meaning("json")
    description = EncoderDescription.from_dict(json.loads(block), "docs/encoders.md")
    assert description.query_prefix == "query: "
    for name in EncoderDescription.__dataclass_fields__:
        assert f"`{name}`" in PAGE, name
