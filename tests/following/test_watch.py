"""What a watch tells of the news that it has stored. Its runs are tested with the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import esr
from esr.following.atom import ATOM
from esr.following.saved_searches import SavedSearch
from esr.following.watch import write_feeds
from esr.following.watch_state import WatchState
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
