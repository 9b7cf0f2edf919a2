"""Generations on both engines: what is served, what is kept, going back, deleting."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

import esr
from esr.documents import Document
from esr.engines.factory import open_generations
from esr.engines.generations import Generation
from esr.errors import EsrError, IndexMissing, UsageError
from tests.engines.elasticsearch.support import document, fresh, load

FIRST = [document("one", "A flood.", "A river.")]
SECOND = [document("two", "A flood."), document("three", "Relief came.", "Late.", "At last.")]
THIRD = [document("four", "The flood is over.")]


def at(where: str) -> list[Generation]:
    with closing(open_generations(where)) as found:
        return found.all()


def states(where: str) -> list[str]:
    return [each.state for each in at(where)]


def rollback(where: str, to: str | None = None) -> Generation:
    with closing(open_generations(where)) as found:
        return found.rollback(to)


def delete(where: str, *names: str) -> None:
    with closing(open_generations(where)) as found:
        found.delete(names)


def served(where: str) -> set[str]:
    with esr.open(where) as searcher:
        found = searcher.search("flood river relief late over", 100, candidates="all")
        return {hit.sentence_id.partition(".")[0] for hit in found.hits}


def replace(where: str, documents: list[Document], keep: int = 1) -> str:
    """Load, and return the name of the generation that is served then."""
    load(where, documents, if_exists="replace", keep=keep)
    (name,) = (each.name for each in at(where) if each.state == "serving")
    return name


def test_a_generation_has_counts_a_size_and_a_time(anywhere: str) -> None:
    name = replace(anywhere, SECOND)
    (only,) = at(anywhere)
    assert (only.name, only.state, only.documents, only.sentences) == (name, "serving", 2, 4)
    assert only.size_bytes > 100
    assert only.made.endswith("Z") and only.made[:4].isdigit()


def test_a_load_keeps_as_many_generations_as_it_is_told(anywhere: str) -> None:
    first = replace(anywhere, FIRST)
    second = replace(anywhere, SECOND)
    assert [(each.name, each.state) for each in at(anywhere)] == [(second, "serving"), (first, "kept")]
    third = replace(anywhere, THIRD)
    assert [each.name for each in at(anywhere)] == [third, second]
    fourth = replace(anywhere, FIRST, keep=2)
    assert [each.name for each in at(anywhere)] == [fourth, third, second]
    last = replace(anywhere, FIRST, keep=0)
    assert [each.name for each in at(anywhere)] == [last]


def test_rolling_back_serves_the_generation_before_and_can_go_forward_again(anywhere: str) -> None:
    first, second = replace(anywhere, FIRST), replace(anywhere, SECOND)
    with esr.open(anywhere) as open_already:
        assert rollback(anywhere).name == first
        hits = open_already.search("river", 1).hits
        assert [hit.sentence_id for hit in hits] == ["one.s1"], "an open index sees it at once"
    assert served(anywhere) == {"one"}
    assert [(each.name, each.state) for each in at(anywhere)] == [(second, "kept"), (first, "serving")]
    with pytest.raises(UsageError, match=f"no generation before the serving one.*--to {second}"):
        rollback(anywhere)
    assert rollback(anywhere, second).name == second
    assert served(anywhere) == {"two", "three"}


def test_a_rollback_to_what_is_not_there_is_refused(anywhere: str) -> None:
    name = replace(anywhere, FIRST)
    for to, message in (
        (None, "keeps no generation before"),
        ("x", "there is no generation 'x'"),
        (name, "is serving"),
    ):
        with pytest.raises(UsageError, match=message):
            rollback(anywhere, to)
    assert served(anywhere) == {"one"}


def test_an_append_is_a_generation_that_can_be_rolled_back(anywhere: str) -> None:
    first = replace(anywhere, FIRST)
    load(anywhere, SECOND, if_exists="append")
    newest, before = at(anywhere)
    assert (newest.documents, before.documents, before.name) == (3, 1, first)
    rollback(anywhere)
    assert served(anywhere) == {"one"}
    rollback(anywhere, newest.name)
    assert served(anywhere) == {"one", "two", "three"}
    delete(anywhere, first)
    assert states(anywhere) == ["serving"]
    assert served(anywhere) == {"one", "two", "three"}, "what generations share stays for the other"


def test_only_what_is_not_served_is_deleted_by_name(anywhere: str) -> None:
    first, second = replace(anywhere, FIRST), replace(anywhere, SECOND)
    for names, message in (([first, second], "is serving"), ([first, "x"], "there is no generation 'x'")):
        with pytest.raises(UsageError, match=message):
            delete(anywhere, *names)
        assert len(at(anywhere)) == 2, "nothing is removed before all is looked at"
    delete(anywhere, first, first)
    assert [each.name for each in at(anywhere)] == [second]
    assert served(anywhere) == {"two", "three"}


def test_all_of_an_index_can_be_deleted(anywhere: str) -> None:
    replace(anywhere, FIRST)
    replace(anywhere, SECOND)
    with closing(open_generations(anywhere)) as found:
        found.delete_all()
    with pytest.raises(IndexMissing):
        esr.open(anywhere)
    with pytest.raises(IndexMissing):
        at(anywhere)
    load(anywhere, THIRD)
    assert states(anywhere) == ["serving"]


def test_an_index_of_before_generations_had_names_can_be_replaced_and_gone_back_to(tmp_path: Path) -> None:
    import json

    where = tmp_path / "index"
    load(str(where), FIRST)
    manifest = where / "esr-index.json"
    old = json.loads(manifest.read_text())
    del old["made"], old["kept"]
    manifest.write_text(json.dumps(old))
    assert [(each.name, each.made) for each in at(str(where))] == [("0", "")]
    replace(str(where), SECOND)
    assert rollback(str(where)).name == "0"
    assert served(str(where)) == {"one"}


def test_what_cannot_be_removed_after_the_switch_is_said_and_no_error(
    elasticsearch_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from esr.engines.elasticsearch.store import generations as engine

    def refused(*_: object) -> None:
        raise EsrError("refuses")

    with fresh(elasticsearch_url) as where:
        load(where, FIRST)
        monkeypatch.setattr(engine, "delete_indices", refused)
        report = load(where, SECOND, if_exists="replace", keep=0)
        assert report.notes == ["older generations could not be deleted, see esr indices: refuses"]
        assert served(where) == {"two", "three"}
