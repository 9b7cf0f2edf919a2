"""Watches: the feeds that a run writes, and the state that it keeps in a file.

tests/cli/test_following.py runs the command.
"""

from __future__ import annotations

import resource
import sqlite3
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import esr
from esr.errors import EsrError, IndexUnusable
from esr.following.alerts.atom import ATOM, Feed, render_feed
from esr.following.alerts.saved_searches import SavedSearch
from esr.following.alerts.watch import write_feeds
from esr.following.alerts.watch_state import WatchState
from esr.index.hits import SentenceRecord
from esr.ranking.ranking import Ranking


def test_news_stored_without_the_fields_of_today_are_in_the_feed(tmp_path: Path) -> None:
    hit: dict[str, Any] = dict.fromkeys(("previous", "next", "title", "date", "source", "url", "language"))
    hit |= {"sentence_id": "d.s0", "document_id": "d", "position": 0, "text": "A storm."}
    with WatchState(tmp_path / "searches.state") as state:
        with state.transaction():
            state.add_news("storms", [hit])
        write_feeds(state, [SavedSearch("storms", esr.parse_query("storm"), Ranking())], tmp_path)
    root = ElementTree.parse(tmp_path / "storms.atom")
    assert [content.text for content in root.iter(f"{{{ATOM}}}content")] == ["A storm."]


@pytest.mark.parametrize(("url", "links"), [("https://a.example/x", 1), ("javascript:alert(1)", 0)])
def test_a_feed_links_to_addresses_of_the_web_alone(tmp_path: Path, url: str, links: int) -> None:
    hit: dict[str, Any] = dict.fromkeys(("previous", "next", "title", "date", "source", "language"))
    hit |= {"sentence_id": "d.s0", "document_id": "d", "position": 0, "text": "A storm.", "url": url}
    with WatchState(tmp_path / "searches.state") as state:
        with state.transaction():
            state.add_news("storms", [hit])
        write_feeds(state, [SavedSearch("storms", esr.parse_query("storm"), Ranking())], tmp_path)
    (entry,) = ElementTree.parse(tmp_path / "storms.atom").iter(f"{{{ATOM}}}entry")
    assert len([*entry.iter(f"{{{ATOM}}}link")]) == links


def test_a_feed_is_well_formed_whatever_a_source_holds() -> None:
    bad = "a\x0bb\ufffe\ud800"
    record = SentenceRecord("d.s0", "d", 0, bad, None, None, bad, None, bad, None, bad)
    root = ElementTree.fromstring(render_feed(Feed("urn:x", bad, bad, bad), [record], lambda _: bad))
    links = [link.get("href") for link in root.iter(f"{{{ATOM}}}link")]
    assert links == ["ab"] * 3
    (entry,) = root.iter(f"{{{ATOM}}}entry")
    assert entry.get("{http://www.w3.org/XML/1998/namespace}lang") == "ab"
    assert entry.findtext(f"{{{ATOM}}}content") == "ab"


def test_a_file_that_is_no_state_is_not_left_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[sqlite3.Connection] = []
    connect = sqlite3.connect

    def remember(*args: Any, **options: Any) -> sqlite3.Connection:
        opened.append(connect(*args, **options))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", remember)
    path = tmp_path / "searches.state"
    path.write_text("no database\n" * 100)
    with pytest.raises(IndexUnusable, match="no state of esr watch"):
        WatchState(path)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        opened[0].execute("SELECT 1")


def test_a_state_without_room_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "searches.state"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
    try:
        with (
            pytest.raises(
                EsrError, match=r"cannot write .*searches\.state: .* --state; the next run reports"
            ),
            WatchState(path) as state,
            state.transaction(),
        ):
            state.add_known("storms", (f"{n:0>500}" for n in range(1000)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with WatchState(path) as state:
        assert state.unknown("storms", [f"{0:0>500}"]) == [f"{0:0>500}"]


def test_a_damaged_state_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "searches.state"
    with WatchState(path) as state, state.transaction():
        state.add_known("storms", (f"{n:0>500}" for n in range(1000)))
    data = path.read_bytes()
    path.write_bytes(data[:8192] + bytes(len(data) - 8192))
    with pytest.raises(IndexUnusable, match=r"searches\.state is damaged"), WatchState(path) as state:
        state.unknown("storms", [])
