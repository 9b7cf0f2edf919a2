"""Feeds that overlap: one id several times in a delivery, by the commands, on both engines."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from esr.cli import main
from tests.support.index_contents import documents

Feed = Callable[..., Path]

WORLD, SPORT = {"id": "w", "text": "A storm."}, {"id": "s", "text": "A match."}
EARLY, LATE = {"id": "both", "text": "A flood."}, {"id": "both", "text": "A flood. It fell."}


@pytest.fixture
def feed(tmp_path: Path) -> Feed:
    """Writes entries to a file with this name."""

    def write(name: str, *entries: dict[str, str]) -> Path:
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
        return path

    return write


def run(*arguments: object, fails: bool = False) -> str:
    """Runs a command. Gives what it prints, or its error."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)
    assert (result.exit_code != 0) == fails, result.output
    return result.stderr if fails else result.stdout


def texts(where: str) -> dict[str, list[str]]:
    return {document.id: [s.text for s in document.sentences] for document in documents(where)}


def generations(where: str) -> list[dict[str, object]]:
    return json.loads(run("indices", where, "--json"))  # type: ignore[no-any-return]


def test_an_entry_that_two_feeds_share_is_loaded_once(anywhere: str, feed: Feed) -> None:
    world, sport = feed("world", WORLD, EARLY), feed("sport", EARLY, SPORT)
    output = run("load", world, sport, "--index", anywhere)
    assert "1 documents repeat the id and the content of an earlier one and were left out: " in output
    assert f"the first is both at {sport}:1" in output
    assert texts(anywhere) == {"w": ["A storm."], "both": ["A flood."], "s": ["A match."]}
    before = generations(anywhere)
    assert "3 unchanged" in run("append", anywhere, world, sport)
    assert generations(anywhere) == before


def test_other_content_under_a_shared_id_is_refused_by_default(anywhere: str, feed: Feed) -> None:
    world, sport = feed("world", WORLD, EARLY), feed("sport", LATE, SPORT)
    problem = f"{sport}:1: document id 'both' is duplicated: first used at {world}:2 with other content"
    assert problem in run("load", world, sport, "--index", anywhere, fails=True)
    run("load", world, "--index", anywhere)
    before = generations(anywhere)
    for paths in ((world, sport), (sport, world)):  # the index has the one, or the other comes first
        assert "--same-id last loads the last one" in run("append", anywhere, *paths, fails=True)
    assert generations(anywhere) == before
    assert texts(anywhere) == {"w": ["A storm."], "both": ["A flood."]}


def test_feeds_with_other_content_settle_on_the_last(anywhere: str, feed: Feed) -> None:
    world, sport = feed("world", WORLD, EARLY), feed("sport", LATE, SPORT)
    run("load", world, "--index", anywhere)
    delivery = ("append", anywhere, world, sport, "--same-id", "last")
    first = run(*delivery)
    assert "1 added, 1 changed, 1 unchanged" in first
    assert "1 documents were replaced by a later one with the same id: " in first
    assert f"the first is both at {sport}:1" in first
    settled = generations(anywhere)
    assert [generation["state"] for generation in settled] == ["serving", "kept"]
    assert "3 unchanged" in run(*delivery)
    assert generations(anywhere) == settled
    assert texts(anywhere) == {"w": ["A storm."], "both": ["A flood.", "It fell."], "s": ["A match."]}
    run("rollback", anywhere)
    assert texts(anywhere) == {"w": ["A storm."], "both": ["A flood."]}


def test_a_load_of_the_last_content_is_that_of_the_documents_that_remain(anywhere: str, feed: Feed) -> None:
    world, sport = feed("world", WORLD, EARLY), feed("sport", LATE, SPORT)
    run("load", world, sport, "--index", anywhere, "--same-id", "last")
    assert [document.id for document in documents(anywhere)] == ["w", "both", "s"]
    assert texts(anywhere)["both"] == ["A flood.", "It fell."]
