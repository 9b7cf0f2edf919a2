"""Generations on both engines: serving, keeping, rolling back, deleting."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Self

import pytest

import esr
from esr.documents import Document
from esr.engines import generations
from esr.engines.factory import LoadOptions, open_delivery, open_generations
from esr.engines.generations import Generation
from esr.errors import EsrError, IndexMissing, UsageError
from tests.support.elasticsearch import document, fresh, load, located

FIRST = [document("one", "A flood.", "A river.")]
SECOND = [document("two", "A flood."), document("three", "Relief came.", "Late.", "At last.")]
THIRD = [document("four", "The flood is over.")]


def list_generations(where: str) -> list[Generation]:
    with closing(open_generations(where)) as generations:
        return generations.all()


def states(where: str) -> list[str]:
    return [generation.state for generation in list_generations(where)]


def rollback(where: str, to: str | None = None) -> Generation:
    with closing(open_generations(where)) as generations:
        return generations.rollback(to)


def delete(where: str, *names: str) -> None:
    with closing(open_generations(where)) as generations:
        generations.delete(names)


def serving_documents(where: str) -> set[str]:
    with esr.open(where) as searcher:
        hits = searcher.search("flood river relief late over", 100, candidates="all").hits
        return {hit.sentence_id.partition(".")[0] for hit in hits}


def replace(where: str, documents: list[Document], keep: int = 1) -> str:
    """Load, and return the name of the new serving generation."""
    load(where, documents, if_exists="replace", keep=keep)
    (name,) = (generation.name for generation in list_generations(where) if generation.state == "serving")
    return name


def test_a_generation_has_counts_a_size_and_a_time(anywhere: str) -> None:
    name = replace(anywhere, SECOND)
    (only,) = list_generations(anywhere)
    assert (only.name, only.state, only.documents, only.sentences) == (name, "serving", 2, 4)
    assert only.size_bytes > 100
    assert only.started_at.endswith("Z") and only.started_at[:4].isdigit()


def test_a_load_keeps_as_many_generations_as_requested(anywhere: str) -> None:
    first = replace(anywhere, FIRST)
    second = replace(anywhere, SECOND)
    assert [(generation.name, generation.state) for generation in list_generations(anywhere)] == [
        (second, "serving"),
        (first, "kept"),
    ]
    third = replace(anywhere, THIRD)
    assert [generation.name for generation in list_generations(anywhere)] == [third, second]
    fourth = replace(anywhere, FIRST, keep=2)
    assert [generation.name for generation in list_generations(anywhere)] == [fourth, third, second]
    last = replace(anywhere, FIRST, keep=0)
    assert [generation.name for generation in list_generations(anywhere)] == [last]


def test_a_rollback_serves_the_previous_generation_and_can_be_undone(anywhere: str) -> None:
    first, second = replace(anywhere, FIRST), replace(anywhere, SECOND)
    with esr.open(anywhere) as searcher:
        assert rollback(anywhere).name == first
        hits = searcher.search("river", 1).hits
        assert [hit.sentence_id for hit in hits] == ["one.s1"], "an open index sees the rollback at once"
    assert serving_documents(anywhere) == {"one"}
    assert [(generation.name, generation.state) for generation in list_generations(anywhere)] == [
        (second, "kept"),
        (first, "serving"),
    ]
    with pytest.raises(UsageError, match=f"no generation before the serving one.*--to {second}"):
        rollback(anywhere)
    assert rollback(anywhere, second).name == second
    assert serving_documents(anywhere) == {"two", "three"}


def set_clock(monkeypatch: pytest.MonkeyPatch, year: int) -> None:
    """Name the generations that follow as if this were the year."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls(year, 3, 1, 6, tzinfo=tz)

    monkeypatch.setattr(generations, "datetime", Clock)


def test_generations_are_in_order_after_the_clock_went_back(
    anywhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_clock(monkeypatch, 2040)
    first = replace(anywhere, FIRST)
    set_clock(monkeypatch, 2020)
    second = replace(anywhere, SECOND)
    report = open_delivery(anywhere, LoadOptions(keep=1)).append(located(THIRD))
    assert report.notes == [f"generation {second} is kept: esr rollback goes back to it"]
    third, kept = list_generations(anywhere)
    assert (third.state, kept.name, kept.state) == ("serving", second, "kept")
    assert first < second < third.name
    assert rollback(anywhere).name == second
    assert serving_documents(anywhere) == {"two", "three"}
    load(anywhere, FIRST, if_exists="append", keep=2)
    monkeypatch.undo()
    last = replace(anywhere, THIRD, keep=2)
    assert list_generations(anywhere)[0].name == last
    assert rollback(anywhere).documents == 3


def test_a_rollback_to_an_unknown_generation_is_refused(anywhere: str) -> None:
    name = replace(anywhere, FIRST)
    for to, message in (
        (None, "keeps no generation before"),
        ("x", "there is no generation 'x'"),
        (name, "is serving"),
    ):
        with pytest.raises(UsageError, match=message):
            rollback(anywhere, to)
    assert serving_documents(anywhere) == {"one"}


def test_an_append_is_a_generation_that_can_be_rolled_back(anywhere: str) -> None:
    first = replace(anywhere, FIRST)
    load(anywhere, SECOND, if_exists="append")
    newest, before = list_generations(anywhere)
    assert (newest.documents, before.documents, before.name) == (3, 1, first)
    rollback(anywhere)
    assert serving_documents(anywhere) == {"one"}
    rollback(anywhere, newest.name)
    assert serving_documents(anywhere) == {"one", "two", "three"}
    delete(anywhere, first)
    assert states(anywhere) == ["serving"]
    assert serving_documents(anywhere) == {"one", "two", "three"}, "what two generations share stays"


def test_an_appending_load_that_keeps_nothing_leaves_one_generation(anywhere: str) -> None:
    replace(anywhere, FIRST)
    load(anywhere, SECOND, if_exists="append", keep=0)
    assert states(anywhere) == ["serving"]
    assert serving_documents(anywhere) == {"one", "two", "three"}


def test_the_serving_generation_cannot_be_deleted_by_name(anywhere: str) -> None:
    first, second = replace(anywhere, FIRST), replace(anywhere, SECOND)
    for names, message in (([first, second], "is serving"), ([first, "x"], "there is no generation 'x'")):
        with pytest.raises(UsageError, match=message):
            delete(anywhere, *names)
        assert len(list_generations(anywhere)) == 2, "nothing is deleted before all names are checked"
    delete(anywhere, first, first)
    assert [generation.name for generation in list_generations(anywhere)] == [second]
    assert serving_documents(anywhere) == {"two", "three"}


def test_a_whole_index_can_be_deleted(anywhere: str) -> None:
    replace(anywhere, FIRST)
    replace(anywhere, SECOND)
    with closing(open_generations(anywhere)) as generations:
        generations.delete_all()
    with pytest.raises(IndexMissing):
        esr.open(anywhere)
    with pytest.raises(IndexMissing):
        list_generations(anywhere)
    load(anywhere, THIRD)
    assert states(anywhere) == ["serving"]


def test_an_unnamed_generation_can_be_replaced_and_rolled_back_to(tmp_path: Path) -> None:
    import json

    where = tmp_path / "index"
    load(str(where), FIRST)
    manifest = where / "esr-index.json"
    old = json.loads(manifest.read_text())
    del old["made"], old["kept"]
    manifest.write_text(json.dumps(old))
    assert [(generation.name, generation.started_at) for generation in list_generations(str(where))] == [
        ("0", "")
    ]
    replace(str(where), SECOND)
    assert rollback(str(where)).name == "0"
    assert serving_documents(str(where)) == {"one"}


def test_failing_to_delete_old_generations_is_a_note_and_no_error(
    elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from esr.engines.elasticsearch.store import generations as engine

    def fail(*_: object) -> None:
        raise EsrError("refuses")

    with fresh(elasticsearch_url) as where:
        load(where, FIRST)
        monkeypatch.setattr(engine, "delete_indices", fail)
        report = load(where, SECOND, if_exists="replace", keep=0)
        assert report.notes == ["older generations could not be deleted, see esr indices: refuses"]
        assert serving_documents(where) == {"two", "three"}
