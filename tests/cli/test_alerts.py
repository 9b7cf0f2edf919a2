"""`esr alerts`: add, preview, run, list, pause and remove, and what goes wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from esr.alerts.channels import MAIL, SENDER
from esr.index.factory import open_delivery
from esr.index.writer import LoadOptions
from tests.alerts.receivers import Mailbox, mail_server
from tests.cli.conftest import Esr
from tests.support.elasticsearch import document, load, located
from tests.support.processes import wait_until

RUN = "from esr.cli import main; main()"
FIRST = document("a", "A storm came.", "It rained.", date="2017-01-05")


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ESR_DESK", str(tmp_path / "desk.sqlite"))
    load(str(tmp_path / "news"), [FIRST])
    return str(tmp_path / "news")


@pytest.fixture
def mailbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mailbox]:
    with mail_server() as (received, address):
        monkeypatch.setenv(MAIL, address)
        monkeypatch.setenv(SENDER, "esr@example.org")
        yield received


def append(where: str, id: str, text: str) -> None:
    open_delivery(where, LoadOptions()).append(located([document(id, text, date="2017-01-06")]))


def add(esr: Esr, where: str, *more: str) -> None:
    options = ("--to", "mailto:ann@example.org", "--index", where, *more)
    assert esr("alerts", "add", "storms", "storm", *options).exit_code == 0


def test_an_alert_is_added_run_and_logged(esr: Esr, where: str, mailbox: Mailbox) -> None:
    add(esr, where, "--after", "2017", "--source", "BBC", "--source", "RTE")
    add(esr, where)
    first, second = json.loads(esr("alerts", "list", "--json").stdout)
    both = [{k: one[k] for k in ("name", "arguments", "every", "failure")} for one in (first, second)]
    assert {"name": "storms", "arguments": {"q": ["storm"]}, "every": "at once", "failure": ""} in both
    assert {"q": ["storm"], "after": ["2017"], "source": ["BBC", "RTE"]} in [one["arguments"] for one in both]
    assert "has 1 document; alerts tell what comes from now on" in esr("alerts", "run", "--once").stdout
    assert esr("alerts", "run", "--once").stdout == "nothing new\n"
    append(where, "b", "The next storm.")
    assert "sent 1" in esr("alerts", "run", "--once").stdout
    (mail,) = mailbox.mails
    assert mail["Subject"] == "storms: 1 new sentence"
    assert "sent" in esr("alerts", "log").stdout
    assert json.loads(esr("alerts", "log", "--json").stdout)[0]["state"] == "sent"


def test_many_alerts_are_listed_with_their_last_deliveries_in_as_few_queries_as_one(
    esr: Esr, where: str, mailbox: Mailbox
) -> None:
    queries: list[str] = []

    def count_queries() -> int:
        queries.clear()
        assert esr("alerts", "list").exit_code == 0
        return len(queries)

    def note(_connection: object, _cursor: object, query: str, *_others: object) -> None:
        queries.append(query)

    add(esr, where)
    event.listen(Engine, "before_cursor_execute", note)
    try:
        count_queries()  # makes the tables of deliveries
        of_one = count_queries()
        for _ in range(2):
            add(esr, where)
        assert count_queries() == of_one
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    esr("alerts", "run", "--once")
    for id in "bc":
        append(where, id, f"Storm {id}.")
        assert "sent 3" in esr("alerts", "run", "--once").stdout
    log = json.loads(esr("alerts", "log", "--json").stdout)
    newest = {one["search"]: one["id"] for one in reversed(log)}
    listed = json.loads(esr("alerts", "list", "--json").stdout)
    assert {one["id"]: one["last"]["id"] for one in listed} == newest and len(newest) == 3


def test_an_alert_is_not_run_for_an_owner_without_access(
    esr: Esr, where: str, mailbox: Mailbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ESR_ACCESS", str(tmp_path / "access.json"))
    for name in ("ann", "ben"):
        assert esr("keys", "add", name).exit_code == 0
        add(esr, where, "--owner", name)
    add(esr, where)
    assert esr("alerts", "run", "--once").exit_code == 0
    append(where, "b", "The next storm.")
    assert esr("keys", "revoke", "ann").exit_code == 0
    assert esr("keys", "add", "ben", "--replace", "--filter", "source:BBC").exit_code == 0
    done = esr("alerts", "run", "--once")
    assert "sent 1" in done.stdout and done.stderr.count("stopped") == 2 and len(mailbox.mails) == 1
    log = esr("alerts", "log").stdout
    assert "stopped: its owner ann has no access any more" in log
    assert "stopped: its owner ben may now search only a part" in log
    (tmp_path / "access.json").write_text("no grants")
    append(where, "c", "A storm again.")
    assert "cannot read" in esr("alerts", "run", "--once").stderr and len(mailbox.mails) == 1


def test_a_file_of_watched_searches_becomes_alerts(esr: Esr, where: str, tmp_path: Path) -> None:
    file = tmp_path / "searches.toml"
    file.write_text(
        '[floods]\nquery = "flood"\n[aid]\nquery = "relief"\nsource = ["BBC"]\n'
        'from = 2017-01-01\nto = "2017-05"\n'
    )
    done = esr(
        "alerts", "add", "--file", file, "--to", "mailto:a@example.org", "--every", "hourly", "--index", where
    )
    assert done.exit_code == 0, done.output
    assert "from is deprecated" in done.stderr and "to is deprecated" in done.stderr
    listed = {one["name"]: one["arguments"] for one in json.loads(esr("alerts", "list", "--json").stdout)}
    filters = {"source": ["BBC"], "after": ["2017-01-01"], "before": ["2017-06-01"]}
    assert listed["aid"] == {"q": ["relief"], **filters}, "under the names of today"


def test_a_preview_needs_no_desk(esr: Esr, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ESR_DESK")
    lines = esr("alerts", "preview", "storm", "--index", where).stdout.splitlines()
    assert lines[0] == "2016-12-06 to 2017-01-05: 1 sentence on 1 day"
    assert lines[-1] == "A storm came. (2017-01-05)"


def test_an_alert_is_paused_resumed_and_removed_by_its_name(esr: Esr, where: str, mailbox: Mailbox) -> None:
    add(esr, where)
    esr("alerts", "run", "--once")
    assert esr("alerts", "pause", "storms").stdout == "paused storms\n"
    append(where, "b", "The next storm.")
    esr("alerts", "run", "--once")
    assert not mailbox.mails
    esr("alerts", "resume", "storms")
    esr("alerts", "run", "--once")
    assert len(mailbox.mails) == 1
    (alert,) = json.loads(esr("alerts", "list", "--json").stdout)
    assert esr("alerts", "remove", "storms").exit_code == 0
    assert json.loads(esr("alerts", "list", "--json").stdout) == []
    assert f"1  {alert['id']}  mailto:" in esr("alerts", "log").stdout, "it has no name any more"


@pytest.mark.parametrize(("answer", "state"), [("554 no", "failed"), ("451 later", "waiting")])
def test_what_failed_is_listed_and_tried_again_on_request(
    esr: Esr, where: str, mailbox: Mailbox, answer: str, state: str
) -> None:
    add(esr, where)
    assert esr("alerts", "log").stdout == "no deliveries yet\n"
    mailbox.answers = [answer]
    assert f"{state} 1" in esr("alerts", "run", "--once", "--from-start").stdout
    assert re.search(rf"last \S+ {state}: .*{answer[:3]}", esr("alerts", "list").stdout)
    assert "again 1  sent 1" in esr("alerts", "deliver", "--retry").stdout
    assert len(mailbox.mails) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["add", "x", "storm"], "where to"),
        (["add", "x", "storm", "--to", "ann"], "cannot read the target"),
        (["add", "x", "storm", "--to", "mailto:a@b.example", "--every", "often"], "weekly monday 08:00"),
        (["add", "x", "--to", "mailto:a@b.example"], "query is missing"),
        (["add", "--to", "mailto:a@b.example"], "name of the alert is missing"),
        (["add", "x", "storm", "--after", "soon", "--to", "mailto:a@b.example"], "after is a date"),
    ],
)
def test_a_wrong_alert_is_refused_in_a_line(
    esr_error: Esr, where: str, arguments: list[str], message: str
) -> None:
    assert message in str(esr_error("alerts", *arguments, "--index", where))


def test_an_unknown_alert_is_an_error(esr: Esr, esr_error: Esr, where: str) -> None:
    add(esr, where)
    assert "there is no alert 'x'" in str(esr_error("alerts", "pause", "x"))


@pytest.mark.slow
def test_sigterm_ends_a_long_run_between_its_steps(esr: Esr, where: str, mailbox: Mailbox) -> None:
    add(esr, where)
    command = [sys.executable, "-c", RUN, "alerts", "run", "--pause", "1", "--from-start"]
    process = subprocess.Popen(command, env=dict(os.environ), stdout=subprocess.PIPE, text=True)
    wait_until(lambda: len(mailbox.mails) == 1)
    append(where, "b", "The next storm.")
    wait_until(lambda: len(mailbox.mails) == 2)
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and output.count("sent 1") == 2
