"""`esr sync`: each run delivers what is new in the sources of a file, as one generation.

The keys of the file are the options of the command line, and messages name bad entries.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from esr.cli import main
from esr.cli.sync import read_config
from esr.errors import EsrError
from tests.cli.conftest import Esr, call
from tests.support.elasticsearch import fresh
from tests.support.web_servers import answer, article, serve_site

ROOT = Path(__file__).resolve().parents[2]


class Desk:
    """A folder of feeds with the file that names them, and an index on either engine."""

    def __init__(self, folder: Path, where: str) -> None:
        self.folder, self.where = folder, where
        self.config = folder / "news.toml"
        self.configure('[[source]]\nname = "feeds"\npaths = "feeds"\n')
        self._clock = time.time() - 1_000_000

    def configure(self, text: str) -> None:
        self.config.write_text(text)

    def put(self, name: str, **texts: str) -> None:
        """Write a file of these documents. Each file is a minute newer than the one before."""
        lines = [json.dumps({"id": id, "text": text}) + "\n" for id, text in texts.items()]
        self.write(name, "".join(lines))

    def write(self, name: str, content: str) -> None:
        path = self.folder / "feeds" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
        self._clock += 60
        os.utime(path, (self._clock, self._clock))

    def sync(self, *options: str) -> dict[str, object]:
        result = call("sync", self.where, self.config, "--json", *options)
        assert result.exit_code == 0, result.output
        report: dict[str, object] = json.loads(result.stdout)
        return report

    def counts(self, *options: str) -> tuple[object, ...]:
        """Files read, documents added, changed, removed, unchanged."""
        report = self.sync(*options)
        return tuple(report[name] for name in ("read", "added", "changed", "removed", "unchanged"))

    def texts(self) -> dict[str, str]:
        """What the index has."""
        lines = call("export", self.where).stdout.splitlines()
        return {d["id"]: d["sentences"][0]["text"] for d in map(json.loads, lines)}

    def generations(self) -> list[str]:
        return [g["name"] for g in json.loads(call("indices", self.where, "--json").stdout)]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, str(tmp_path / "index"))


@pytest.fixture(params=["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)])
def any_desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    if request.param == "embedded":
        yield Desk(tmp_path, str(tmp_path / "index"))
        return
    with fresh(request.getfixturevalue("elasticsearch_url")) as where:
        yield Desk(tmp_path, where)


@pytest.mark.slow
def test_each_run_delivers_what_is_new_as_one_generation(any_desk: Desk) -> None:
    desk = any_desk
    desk.put("1.jsonl", a="A storm.", b="A flood.")
    assert desk.counts() == (1, 2, 0, 0, 0)
    assert len(desk.generations()) == 1
    assert desk.counts() == (0, 0, 0, 0, 0)
    desk.put("2.jsonl", b="A flood falls.", c="Hail.")
    desk.put("3.jsonl", d="Snow.")
    assert desk.counts() == (2, 2, 1, 0, 0)
    assert desk.texts() == {"a": "A storm.", "b": "A flood falls.", "c": "Hail.", "d": "Snow."}
    generations = desk.generations()
    assert len(generations) == 2
    (desk.folder / "feeds" / "1.jsonl").touch()
    desk.put("4.jsonl", d="Snow.")
    assert desk.counts()[0] == 2
    desk.put("5.jsonl", d="Snow.")
    assert desk.sync()["generation"] == desk.generations()[0]


@pytest.mark.slow
def test_what_was_removed_for_good_does_not_come_back(any_desk: Desk) -> None:
    desk = any_desk
    desk.put("1.jsonl", a="A storm.", b="A flood.", c="Hail.")
    desk.sync()
    assert call("remove", desk.where, "b", "never").exit_code == 0
    desk.put("2.jsonl", b="A flood falls.", d="Snow.", never="Not here.")
    report = desk.sync()
    assert report["notes"][-1:] == ["3 documents left out: removed by esr remove"]
    assert desk.texts().keys() == {"a", "c", "d"}
    assert desk.counts("--reread")[1:4] == (0, 0, 0) and desk.texts().keys() == {"a", "c", "d"}
    assert call("remove", desk.where, "--list").stdout.split() == ["b", "never"]
    assert call("append", desk.where, desk.folder / "feeds" / "2.jsonl").exit_code == 0
    assert call("remove", desk.where, "--list").stdout == ""
    desk.sync()
    assert desk.texts() == {
        "a": "A storm.",
        "c": "Hail.",
        "b": "A flood falls.",
        "d": "Snow.",
        "never": "Not here.",
    }


@pytest.mark.slow
def test_documents_older_than_a_removed_age_are_not_delivered(any_desk: Desk) -> None:
    desk = any_desk
    lines = [{"id": f"y{year}", "date": f"{year}-05-06", "text": "A flood."} for year in (2014, 2015, 2016)]
    lines.append({"id": "undated", "text": "A flood."})
    desk.write("1.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    desk.sync()
    assert "2 sentences matched" in call("remove", desk.where, "--before", "2016").stdout
    old = {"id": "z", "date": "2013-01-01", "text": "Older."}
    desk.write("2.jsonl", "".join(json.dumps(line) + "\n" for line in [*lines, old]))
    desk.sync("--reread")
    assert desk.texts().keys() == {"y2016", "undated"}
    assert call("remove", desk.where, "--list").stdout == "all documents before 2016-01-01\n"


@pytest.mark.slow
def test_a_load_in_place_of_the_index_keeps_the_list_and_a_rollback_has_its_own(any_desk: Desk) -> None:
    desk = any_desk
    desk.put("1.jsonl", a="A storm.", b="A flood.")
    desk.sync()
    call("remove", desk.where, "b")
    desk.put("2.jsonl", a="A storm.", c="Hail.")
    call("load", desk.folder / "feeds" / "2.jsonl", "--index", desk.where, "--if-exists", "replace")
    assert call("remove", desk.where, "--list").stdout == "b\n"
    desk.sync("--reread")
    assert "b" not in desk.texts()


@pytest.mark.slow
def test_a_run_that_changes_nothing_makes_no_generation(desk: Desk) -> None:
    desk.put("1.jsonl", a="A storm.")
    desk.sync()
    before = desk.generations()
    desk.put("2.jsonl", a="A storm.")
    assert desk.counts() == (1, 0, 0, 0, 1)
    assert desk.generations() == before


@pytest.mark.slow
def test_the_newest_file_wins_however_files_are_named_and_whenever_they_are_read(desk: Desk) -> None:
    desk.put("z.jsonl", a="Monday.")
    desk.sync()
    desk.put("b.jsonl", a="Tuesday.")
    desk.put("a.jsonl", a="Wednesday.")
    desk.sync()
    assert desk.texts() == {"a": "Wednesday."}
    assert desk.counts("--reread") == (3, 0, 0, 0, 1)


@pytest.mark.slow
def test_documents_of_removed_files_stay_by_default(desk: Desk) -> None:
    desk.put("1.jsonl", a="A storm.")
    desk.put("2.jsonl", b="Hail.")
    desk.sync()
    (desk.folder / "feeds" / "1.jsonl").unlink()
    assert desk.counts() == (0, 0, 0, 0, 0)
    assert set(desk.texts()) == {"a", "b"}


@pytest.mark.slow
def test_a_source_can_remove_what_it_has_no_more_in_the_same_step(any_desk: Desk) -> None:
    desk = any_desk
    desk.configure('[[source]]\npaths = ["feeds"]\ngone = "remove"\n')
    desk.put("1.jsonl", a="A storm.", b="A flood.")
    desk.put("2.jsonl", b="A flood.", c="Hail.")
    desk.sync()
    (desk.folder / "feeds" / "1.jsonl").unlink()
    desk.put("3.jsonl", d="Snow.")
    assert desk.counts("--dry-run") == (1, 1, 0, 1, 0)
    assert desk.counts() == (1, 1, 0, 1, 0)
    assert set(desk.texts()) == {"b", "c", "d"}
    assert len(desk.generations()) == 2
    desk.put("2.jsonl", b="A flood.")
    assert desk.counts() == (1, 0, 0, 1, 1)
    assert set(desk.texts()) == {"b", "d"}
    assert desk.counts() == (0, 0, 0, 0, 0)


@pytest.mark.slow
def test_an_article_that_its_file_cancels_goes_and_is_not_read_again(desk: Desk) -> None:
    def deliver(management: str) -> None:
        head = f'<head><docdata {management}><doc-id id-string="wire.1"/></docdata></head>'
        body = "<body><body.content><p>A storm came.</p></body.content></body>"
        desk.write("wire.xml", f"<nitf>{head}{body}</nitf>")

    desk.configure('[[source]]\npaths = "feeds"\ngone = "remove"\n')
    deliver("")
    desk.put("1.jsonl", a="A flood.")
    assert desk.counts() == (2, 2, 0, 0, 0)
    deliver('management-status="embargoed"')
    assert desk.counts() == desk.counts() == (1, 0, 0, 0, 0) and len(desk.texts()) == 2
    deliver('management-status="canceled"')
    assert desk.counts() == (1, 0, 0, 1, 0)
    assert set(desk.texts()) == {"a"} and desk.counts() == (0, 0, 0, 0, 0)


@pytest.mark.slow
def test_a_source_that_lost_all_its_files_removes_nothing(desk: Desk, esr_error: Esr) -> None:
    desk.configure('[[source]]\npaths = "feeds/*"\ngone = "remove"\n')
    desk.put("1.jsonl", a="A storm.")
    desk.sync()
    (desk.folder / "feeds" / "1.jsonl").unlink()
    assert "source feeds/* has no file any more" in str(esr_error("sync", desk.where, desk.config))
    assert set(desk.texts()) == {"a"}


@pytest.mark.slow
def test_a_dry_run_compares_and_writes_nothing(any_desk: Desk) -> None:
    desk = any_desk
    desk.put("1.jsonl", a="A storm.", b="A flood.")
    assert desk.counts("--dry-run") == (1, 2, 0, 0, 0)
    assert sorted(path.name for path in desk.folder.iterdir()) == ["feeds", "news.toml"]
    desk.sync()
    desk.put("2.jsonl", b="A flood falls.", a="A storm.", c="Hail.")
    before = desk.generations()
    for _ in range(2):
        assert desk.counts("--dry-run") == (1, 1, 1, 0, 1)
    assert desk.generations() == before and set(desk.texts()) == {"a", "b"}
    assert desk.counts() == (1, 1, 1, 0, 1)


@pytest.mark.slow
def test_what_a_rollback_rejected_comes_back_only_when_asked_for(any_desk: Desk, esr_error: Esr) -> None:
    desk = any_desk
    desk.put("1.jsonl", a="A storm.")
    desk.sync()
    desk.put("2.jsonl", a="Rubbish.")
    desk.sync()
    assert call("rollback", desk.where).exit_code == 0
    for _ in range(2):
        line = str(esr_error("sync", desk.where, desk.config))
        assert "was rolled back from generation" in line and "esr sync --reread" in line
    assert desk.texts() == {"a": "A storm."}
    desk.put("2.jsonl", a="A storm passes.")
    assert desk.counts("--reread") == (2, 0, 1, 0, 0)
    assert desk.counts() == (0, 0, 0, 0, 0)


@pytest.mark.slow
def test_all_files_are_read_again_if_something_else_changed_the_index(desk: Desk, tmp_path: Path) -> None:
    desk.put("1.jsonl", a="A storm.")
    desk.sync()
    (tmp_path / "other.jsonl").write_text('{"id": "o", "text": "Fog."}\n')
    load = ("load", tmp_path / "other.jsonl", "--index", desk.where, "--if-exists", "replace")
    assert call(*load).exit_code == 0
    assert desk.counts() == (1, 1, 0, 0, 0)
    assert set(desk.texts()) == {"a", "o"}
    assert call("delete", desk.where, "--yes").exit_code == 0
    assert desk.counts() == (1, 1, 0, 0, 0)


@pytest.mark.slow
def test_files_are_read_again_when_an_option_of_their_source_changes(desk: Desk) -> None:
    desk.write("1.csv", "id,body,text\na,A storm.,It blew.\n")
    desk.put("2.jsonl", b="Hail.")
    desk.configure('[[source]]\nname = "s"\npaths = "feeds"\n')
    desk.sync()
    desk.configure('[[source]]\nname = "s"\npaths = "feeds"\nmapping = {title = "body"}\nexclude = "2*"\n')
    assert desk.counts() == (1, 0, 1, 0, 0)


@pytest.mark.slow
def test_a_file_that_was_just_written_is_read_once_more(desk: Desk) -> None:
    """Its next version could have the same size and, by the clock of the file system, the same time."""
    desk.put("1.jsonl", a="A storm.")
    (desk.folder / "feeds" / "1.jsonl").touch()
    assert desk.counts() == (1, 1, 0, 0, 0)
    assert desk.counts() == (1, 0, 0, 0, 1)


@pytest.mark.slow
def test_a_bad_file_stops_a_run_and_loses_nothing(desk: Desk, esr_error: Esr) -> None:
    desk.put("1.jsonl", a="A storm.")
    desk.write("2.jsonl", '{"id": "b", "text": "Hail."}\n{"id": true}\n')
    assert "2.jsonl:2: id must be a string" in str(esr_error("sync", desk.where, desk.config))
    assert not Path(desk.where).exists()
    desk.put("2.jsonl", b="Hail.")
    assert desk.counts() == (2, 2, 0, 0, 0)


@pytest.mark.slow
def test_bad_documents_are_set_aside_and_told_until_they_are_mended(desk: Desk, esr: Esr) -> None:
    desk.configure('bad-documents = "bad.jsonl"\n[[source]]\npaths = "feeds"\ngone = "remove"\n')
    desk.put("1.jsonl", a="A storm.", b="Hail.")
    desk.sync()
    desk.write("1.jsonl", '{"id": "a", "text": "A storm passes."}\n{"id": "b", "text": 7}\n')
    for counts in ("1 changed", "1 unchanged"):
        result = esr("sync", desk.where, desk.config)
        assert result.exit_code == 1
        assert counts in result.stdout and "1 of 1 file read" in result.stdout
        assert "1.jsonl:2: text must be a string" in result.stderr
        assert json.loads((desk.folder / "bad.jsonl").read_text())["id"] == "b"
    assert desk.texts() == {"a": "A storm passes.", "b": "Hail."}
    (desk.folder / "bad.jsonl").unlink()
    assert esr("sync", desk.where, desk.config, "--dry-run").exit_code == 1
    assert not (desk.folder / "bad.jsonl").exists()
    desk.put("1.jsonl", a="A storm passes.")
    assert desk.counts() == (1, 0, 0, 1, 1)


@pytest.mark.slow
def test_bad_documents_are_not_listed_among_the_sources(desk: Desk, esr_error: Esr) -> None:
    desk.configure('bad-documents = "feeds/1.jsonl"\n[[source]]\npaths = "feeds"\n')
    desk.put("1.jsonl", a="A storm.")
    assert "feeds/1.jsonl is a file to read" in str(esr_error("sync", desk.where, desk.config))
    assert "A storm." in (desk.folder / "feeds" / "1.jsonl").read_text()


@pytest.mark.slow
def test_a_refused_document_is_told_until_its_files_are_mended(desk: Desk, esr: Esr) -> None:
    desk.configure('bad-documents = "bad.jsonl"\nsame-id = "refuse"\n[[source]]\npaths = "feeds"\n')
    desk.put("1.jsonl", a="A storm.")
    desk.put("2.jsonl", a="Hail.")
    for _ in range(2):
        assert esr("sync", desk.where, desk.config).exit_code == 1
    desk.put("2.jsonl", b="Hail.")
    assert desk.counts() == (2, 1, 0, 0, 1)


@pytest.mark.slow
def test_files_that_no_loader_knows_fail_every_run_until_they_are_excluded(desk: Desk, esr: Esr) -> None:
    desk.put("1.jsonl", a="A storm.")
    desk.write("2.rtf", "\0")
    for _ in range(2):
        result = esr("sync", desk.where, desk.config, "--json")
        report = json.loads(result.stdout)
        assert result.exit_code == 1 and desk.texts() == {"a": "A storm."}
        assert (report["found"], report["unknown_files"]) == (2, {".rtf": 1})
        assert "1 file is in no format that is read, and left out: .rtf 1" in result.stderr
        assert "exclude them in the file that names the sources" in result.stderr
    assert report["read"] == 0
    (desk.folder / "feeds" / "2.rtf").unlink()
    assert desk.sync()["unknown_files"] == {}
    desk.write("2.rtf", "\0")
    desk.configure('[[source]]\nname = "feeds"\npaths = "feeds"\nexclude = "*.rtf"\n')
    assert desk.sync()["unknown_files"] == {}


@pytest.mark.slow
def test_a_file_that_no_loader_knows_is_not_counted_as_read(desk: Desk, esr: Esr) -> None:
    desk.put("1.jsonl", a="A storm.")
    desk.write("2.rtf", "\0")
    assert "1 of 2 files read" in esr("sync", desk.where, desk.config).stdout
    desk.configure('strict = true\n[[source]]\nname = "feeds"\npaths = "feeds"\n')
    desk.put("3.jsonl", b="Hail.")
    result = esr("sync", desk.where, desk.config)
    assert result.exit_code == 1 and "2.rtf: is in no format that is read" in result.stderr
    assert desk.texts() == {"a": "A storm."}


@pytest.mark.slow
def test_a_second_run_at_the_same_time_does_nothing(desk: Desk, esr: Esr) -> None:
    desk.put("1.jsonl", a="A storm.")
    desk.sync()
    desk.put("2.jsonl", b="Hail.")
    with sqlite3.connect(desk.folder / "news.toml.state", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        result = esr("sync", desk.where, desk.config)
        assert result.exit_code == 75
        assert result.stderr.startswith("Error: another esr sync with ")
        other.execute("ROLLBACK")
    assert desk.counts() == (1, 1, 0, 0, 0)


@pytest.mark.slow
def test_the_log_line_says_when_where_what_and_how_long(desk: Desk, esr: Esr) -> None:
    desk.put("1.jsonl", a="A storm.")
    line = esr("sync", desk.where, desk.config).stdout.splitlines()[0]
    head, what, read, served, seconds = line.replace(": ", "; ", 1).split("; ")
    assert head.endswith(f"Z {desk.where}") and (what, read) == ("1 added", "1 of 1 file read")
    assert served == f"serves {desk.generations()[0]}" and seconds.endswith(" s")
    assert ": nothing new; 0 of 1 file read; serves " in esr("sync", desk.where, desk.config).stdout


@pytest.mark.slow
def test_one_record_serves_one_index(desk: Desk, esr_error: Esr, tmp_path: Path) -> None:
    desk.put("1.jsonl", a="A storm.")
    desk.sync()
    assert "use another CONFIG, or another state" in str(esr_error("sync", tmp_path / "other", desk.config))
    desk.configure('state = "other.state"\n[[source]]\npaths = "feeds"\n')
    assert call("sync", tmp_path / "other", desk.config).exit_code == 0
    (tmp_path / "other.state").write_text("no record, but more than a hundred bytes" * 50)
    assert "is no record of esr sync" in str(esr_error("sync", tmp_path / "other", desk.config))
    desk.configure('state = "nowhere/other.state"\n[[source]]\npaths = "feeds"\n')
    assert "cannot write" in str(esr_error("sync", tmp_path / "other", desk.config))


WEB = """
delay = 0
retries = 0
recheck-hours = 0
private-networks = ["127.0.0.1"]
[[source]]
name = "web"
"""


@pytest.mark.slow
def test_feeds_of_the_web_are_delivered_and_changed_articles_replaced(any_desk: Desk, esr: Esr) -> None:
    desk = any_desk
    with serve_site() as site:
        desk.configure(f'{WEB}feeds = "{site.url}/feed"\nset = {{"meta.desk" = "web"}}\n')
        site.put_feed("a", "b")
        assert desk.counts("--dry-run") == (1, 2, 0, 0, 0)
        assert [path.name for path in desk.folder.iterdir()] == ["news.toml"]
        assert desk.counts() == (1, 2, 0, 0, 0)
        assert desk.texts() == {f"{site.url}/a": "a came.", f"{site.url}/b": "b came."}
        assert desk.counts() == (0, 0, 0, 0, 0)
        site.pages["/a"] = answer(article("Hail came."))
        assert desk.counts("--dry-run") == (1, 0, 1, 0, 0)
        assert desk.counts() == (1, 0, 1, 0, 0)
        assert desk.texts() == {f"{site.url}/a": "Hail came.", f"{site.url}/b": "b came."}
        assert desk.counts("--reread") == (2, 0, 0, 0, 2)


@pytest.mark.slow
def test_a_feed_that_fails_is_told_and_the_others_are_delivered(desk: Desk, esr: Esr) -> None:
    with serve_site() as site:
        site.put_feed("a", "gone")
        site.pages["/gone"] = answer(status=410)
        desk.configure(f'{WEB}feeds = ["{site.url}/none", "{site.url}/feed"]\n')
        result = esr("sync", desk.where, desk.config)
        assert result.exit_code == 1 and set(desk.texts()) == {f"{site.url}/a"}
        assert result.stdout.splitlines()[-3:] == [
            "2 feeds, 1 of them failed; articles: 1 new, 1 not fetched",
            f"{site.url}/none: 404 Not Found",
            f"{site.url}/gone: 410 Gone",
        ]
        failed = f"Error: 1 of 2 feeds could not be read; the first: {site.url}/none: 404 Not Found\n"
        assert result.stderr == failed
        report = json.loads(esr("sync", desk.where, desk.config, "--json").stdout)["feeds"]
        assert report["failed"] == [f"{site.url}/none: 404 Not Found"] and report["unchanged"] == 1
        desk.configure(f'[[source]]\nfeeds = ["{site.url}/feed"]\n')
        refused = f"{site.url}/feed: its robots.txt cannot be read: 127.0.0.1 is in a private network"
        assert refused in esr("sync", desk.where, desk.config).stderr


KILLED = """
import os, signal, sys
from unittest.mock import patch
from esr.cli import main
def kill(*args, **options):
    os.kill(os.getpid(), signal.SIGKILL)
with patch(sys.argv[1], kill):
    main(["sync", *sys.argv[2:]])
"""
MOMENTS = {
    "while it reads": "esr.loaders.delivered_files.DeliveredFiles.add",
    "before it switches": "{switch}",
    "after it switched": "esr.loaders.delivered_files.DeliveredFiles.forget_missing",
}
SWITCHES = {
    "elasticsearch": "esr.elastic.write.delivery.serve",
    "embedded": "esr.folder.format.manifest.commit",
}


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_run_after_a_killed_run_settles(any_desk: Desk, moment: str) -> None:
    desk = any_desk
    desk.configure('keep = 2\n[[source]]\npaths = "feeds"\ngone = "remove"\n')
    desk.put("1.jsonl", a="A storm.", b="A flood.")
    desk.sync()
    desk.put("1.jsonl", b="A flood falls.", c="Hail.")
    engine = "elasticsearch" if desk.where.startswith("http") else "embedded"
    target = MOMENTS[moment].format(switch=SWITCHES[engine])
    command = [sys.executable, "-c", KILLED, target, desk.where, str(desk.config)]
    for _ in range(2):
        killed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
    is_done = moment == "after it switched"
    assert desk.counts() == ((1, 0, 0, 0, 2) if is_done else (1, 1, 1, 1, 0))
    assert desk.texts() == {"b": "A flood falls.", "c": "Hail."}
    assert len(desk.generations()) == 2
    assert desk.counts() == (0, 0, 0, 0, 0)


FEED = '[[source]]\nfeeds = "https://a.example/feed"\n'
MAIL = '[[source]]\nmailboxes = "imaps://desk@mail.example/News"\n'
SOURCE = '[[source]]\nname = "s"\npaths = "."\n'


def read(tmp_path: Path, text: str) -> Any:
    (tmp_path / "news.toml").write_text(text)
    return read_config(tmp_path / "news.toml")


def error(tmp_path: Path, text: str) -> str:
    with pytest.raises(EsrError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert message.startswith(str(tmp_path / "news.toml"))
    return message.removeprefix(f"{tmp_path}/news.toml: ")


def options_of(command: str) -> list[click.Option]:
    return [option for option in main.commands[command].params if isinstance(option, click.Option)]


def example(option: click.Option) -> str:
    """A value that the option takes, in TOML."""
    if option.is_flag:
        return "true"
    if isinstance(option.type, click.Choice):
        return f'"{option.type.choices[0]}"'
    if isinstance(option.type, click.types.FloatParamType | click.types.IntParamType):
        return "3"
    known = {"pairs": '{title = "headline"}', "source_format": '"jsonl"', "encoding": '"latin-1"'}
    if option.opts == ["--set"]:
        return '{source = "Times"}'
    known |= {"allow_empty_documents": '"80%"', "base": '"."', "delimiter": '";"', "quote": '"|"'}
    return known.get(str(option.name), '["a=b"]' if option.multiple else '"x"')


NOT_OF_A_SYNC = {
    "--if-exists",
    "--meaning",
    "--no-meaning",
    "--enrich",
    "--enrich-only",
    "--dry-run",
    "--slice",
    "--resume",
    "--json",
    "--index",
}


@pytest.mark.parametrize("option", options_of("load"), ids=lambda option: option.opts[0])
def test_the_options_of_load_are_keys_of_the_file(tmp_path: Path, option: click.Option) -> None:
    for name in (*option.opts, *option.secondary_opts):
        text = f"{name.removeprefix('--')} = {example(option)}\n{SOURCE}"
        if name in NOT_OF_A_SYNC:
            assert "unknown key" in error(tmp_path, text)
        else:
            read(tmp_path, text)


def test_patterns_find_files_below_a_folder_with_brackets_in_its_name(tmp_path: Path) -> None:
    folder = tmp_path / "news [2026]"
    for name in ("feeds/a.jsonl", "feeds/b.jsonl", "other/c.jsonl"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    (source,) = read(folder, '[[source]]\npaths = ["feeds/[ab].jsonl", "other/*.jsonl"]\n').sources
    found = [Path(file.path).name for file in source.source.find_files()]
    assert found == ["a.jsonl", "b.jsonl", "c.jsonl"]


def test_an_entry_is_read_as_the_command_line_reads_it(tmp_path: Path) -> None:
    config = read(
        tmp_path,
        'keep = 7\nmonth-first = true\nbad-documents = "bad.jsonl"\nallow-empty-documents = 80\n'
        '[[source]]\npaths = ["."]\nmapping = {title = "headline", source = "desk"}\nmax-unpacked = 0.5\n'
        '[[source]]\nname = "other"\npaths = ["*.nothing"]\nday-first = true\ninclude = ["*.a", "*.b"]\n',
    )
    assert config.state == tmp_path / "news.toml.state"
    assert config.index["keep"] == 7
    assert config.delivery == {
        "same_id": "last",
        "duplicates": "keep",
        "bad_documents": tmp_path / "bad.jsonl",
        "allow_empty_documents": 80.0,
    }
    first, other = config.sources
    assert (first.name, other.name) == (".", "other")
    assert '"pairs": ["title=headline", "source=desk"]' in first.options
    assert '"max_unpacked": 0.5' in first.options and '"day_first": false' in first.options
    assert '"day_first": true' in other.options and '"include": ["*.a", "*.b"]' in other.options


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("keep = \n" + SOURCE, "is not TOML: Invalid value (at line 1, column 8)"),
        ("", 'there is no source: add [[source]] with paths = ["FOLDER"]'),
        ("source = 3\n", "there is no source"),
        ("kep = 3\n" + SOURCE, "unknown key 'kep': did you mean 'keep'?"),
        (SOURCE + "formaat = 3\n", "source s: unknown key 'formaat': did you mean 'format'?"),
        (SOURCE + 'same-id = "last"\n', "source s: unknown key 'same-id'"),
        (SOURCE + 'format = "xml"\n', "source s: unknown format 'xml'"),
        (SOURCE + 'id = "no"\n', "source s: Invalid value for '--id': 'no' is not one of 'url'"),
        (SOURCE + "max-expansion = 0\n", "source s: Invalid value for '--max-expansion': 0"),
        (SOURCE + "include = [[1]]\n", "source s: include must be a list of strings, not [1]"),
        (SOURCE + "encoding = 2026-01-01\n", "source s: encoding must be a string or a number"),
        (SOURCE + 'encoding = "no"\n', "source s: "),
        (SOURCE + 'day-first = "yes"\n', "source s: day-first must be true or false, not 'yes'"),
        (SOURCE + 'mapping = {txt = "x"}\n', "source s: unknown field 'txt'"),
        (SOURCE + 'gone = "delete"\n', "source s: gone is one of keep, remove, not 'delete'"),
        ("keep = -1\n" + SOURCE, "Invalid value for '--keep': -1 is not in the range"),
        ("state = 3\n" + SOURCE, "state must be the name of a file"),
        ('[[source]]\npaths = "none"\n', "source 1: paths: there is no file or folder /"),
        ("[[source]]\npaths = []\n", "source 1: paths must name files, folders or patterns"),
        ('[[source]]\nname = 3\npaths = "."\n', "source 3: name must be a string"),
        ('[[source]]\npaths = "-"\n', "source 1: standard input cannot be a source"),
        ('[[source]]\nfeeds = "news.xml"\n', "source 1: feeds: 'news.xml' does not begin with https://"),
        ("[[source]]\nfeeds = []\n", "source 1: feeds must be addresses"),
        (SOURCE + 'feeds = "https://a.example"\n', "source s: a source has paths or feeds: make two of it"),
        (FEED + 'gone = "remove"\n', "source 1: gone is of files"),
        (FEED + 'format = "csv"\n', "source 1: unknown key 'format'"),
        (FEED + "delay = -1\n", "source 1: Invalid value for '--delay': -1"),
        (FEED + 'private-networks = "here"\n', "source 1: Invalid value for '--private-networks': 'here'"),
        ("delay = -1\n" + SOURCE, "Invalid value for '--delay': -1"),
        (SOURCE + "max-files = 3\n", "source s: unknown key 'max-files'"),
        (MAIL + 'gone = "remove"\n', "source 1: gone is of files: the messages of mailboxes stay"),
        (MAIL + 'format = "csv"\n', "source 1: unknown key 'format'"),
        (MAIL + "max-messages = 0\n", "source 1: Invalid value for '--max-messages': 0"),
        ('[[source]]\nmailboxes = "imap.example"\n', "source 1: mailboxes: 'imap.example' is no mailbox"),
        ('[[source]]\nbuckets = ["b"]\n', "source 1: buckets: 'b' is no bucket: write s3://bucket/prefix"),
        (MAIL + 'buckets = "s3://news"\n', "source 1: a source has mailboxes or buckets: make two of it"),
        (SOURCE + SOURCE, "two sources have the name 's'"),
    ],
)
def test_a_bad_entry_is_named_with_its_place_and_what_to_do(tmp_path: Path, text: str, message: str) -> None:
    assert error(tmp_path, text).startswith(message)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    result = call("sync", tmp_path / "index", tmp_path / "none.toml")
    assert result.exit_code in (1, 2)
    assert f"{tmp_path}/none.toml: " in result.stderr and os.strerror(errno.ENOENT) in result.stderr
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    result = call("sync", tmp_path / "index", tmp_path / "latin.toml")
    assert f"{tmp_path}/latin.toml: " in result.stderr and "UTF-8" in result.stderr
