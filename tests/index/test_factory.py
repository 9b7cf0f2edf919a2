"""A closed searcher says that it is closed, on both engines."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from esr.errors import EngineUnreachable, IndexClosed, UsageError
from esr.folder.index import EmbeddedIndex
from esr.folder.write.folder_writer import FolderWriter
from esr.index.contract import read_document
from esr.index.factory import (
    is_elasticsearch,
    open_delivery,
    open_generations,
    open_index,
    open_migration,
    open_priors,
    open_writer,
)
from esr.index.filters import NO_FILTERS
from esr.index.hits import Hit, LazyHits, Places
from esr.index.limits import time_remaining, within
from esr.index.questions import Readiness, Records, Summary, Values
from esr.index.writer import IF_EXISTS, LoadOptions
from esr.plans.plan import HasTerm
from esr.ranking.ranking import Ranking
from esr.ranking.searcher import Searcher, open_searcher
from tests.support.elasticsearch import document as bare_document
from tests.support.elasticsearch import load as load_bare
from tests.support.folder_index import document, load
from tests.support.index_contents import ENGINES, open_loaded


@pytest.mark.parametrize(
    ("where", "answer"),
    [
        ("http://localhost:9200/news", True),
        ("https://es:9243/news", True),
        ("news", False),
        ("/var/news", False),
        ("http", False),
    ],
)
def test_the_location_determines_the_engine(where: str, answer: bool) -> None:
    assert is_elasticsearch(where) is answer


def test_a_folder_is_opened_by_the_embedded_engine(tmp_path: Path) -> None:
    load(tmp_path / "index", [document("A", "one")])
    assert isinstance(open_index(str(tmp_path / "index")), EmbeddedIndex)
    assert isinstance(open_searcher(str(tmp_path / "index")).index, EmbeddedIndex)
    assert isinstance(open_writer(str(tmp_path / "new"), LoadOptions()), FolderWriter)


@pytest.mark.parametrize("where", ["ftp://host/news", "file:///news", "elasticsearch://host:9200/news"])
@pytest.mark.parametrize(
    "open_any",
    [
        open_index,
        open_generations,
        open_priors,
        lambda where: open_writer(where, LoadOptions()),
        lambda where: open_delivery(where, LoadOptions()),
        lambda where: open_migration(where, LoadOptions()),
    ],
)
def test_another_scheme_is_refused(where: str, open_any: Callable[[str], object]) -> None:
    with pytest.raises(UsageError, match="is neither a folder nor http"):
        open_any(where)


@pytest.mark.parametrize("where", ["localhost:9200/news", "es1.example:9200/news"])
def test_an_address_without_its_scheme_is_no_folder(where: str) -> None:
    with pytest.raises(UsageError, match=f"write http://{where} for Elasticsearch"):
        open_index(where)
    assert not is_elasticsearch("C:/news") and not is_elasticsearch("news:2024/05")


def test_the_error_for_a_location_does_not_contain_its_password() -> None:
    with pytest.raises(UsageError) as caught:
        open_generations("ftp://me:secret@host/news")
    assert "secret" not in str(caught.value)


def test_unsuitable_options_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    for options, message in (
        (LoadOptions(if_exists="replce"), "unknown choice for --if-exists 'replce': did you mean 'replace'"),
        (LoadOptions(shards=3), "--shards is for Elasticsearch"),
        (LoadOptions(profile="lean"), "--profile is for Elasticsearch"),
        (LoadOptions(profile="leen"), "unknown profile 'leen': did you mean 'lean'"),
        (LoadOptions(analyzer="englsh"), "unknown analyzer 'englsh': did you mean 'english'"),
    ):
        with pytest.raises(UsageError) as caught:
            open_writer(where, options)
        assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_can_be_loaded_into(tmp_path: Path) -> None:
    load(tmp_path, [document("A", "one")])
    assert EmbeddedIndex(str(tmp_path)).status(Summary())["sentences"] == 1


def test_the_default_analyzer_stems_and_titles_count(tmp_path: Path) -> None:
    load(tmp_path / "index", [document("A", "one")], analyzer=None)
    description = EmbeddedIndex(str(tmp_path / "index")).description
    assert description.as_dict() == {"analyzer": "english-stem", "analyzer_version": 3, "title": True}


def test_every_choice_of_if_exists_is_explained() -> None:
    assert set(IF_EXISTS) == {"fail", "replace", "append"}
    assert all(IF_EXISTS.values())


CALLS: dict[str, Callable[[Searcher], Any]] = {
    "search": lambda searcher: searcher.search("storm"),
    "search of a snapshot": lambda searcher: searcher.snapshot().search("storm"),
    "prepare": lambda searcher: searcher.prepare("storm", Ranking()),
    "check_ready": lambda searcher: searcher.index.status(Readiness()),
    "count": lambda searcher: searcher.index.count([HasTerm("storm")], NO_FILTERS),
    "document": lambda searcher: read_document(searcher.index, "a"),
    "documents": lambda searcher: list(searcher.index.documents()),
    "sentences": lambda searcher: searcher.index.read(["a.s0"], Records()),
    "status": lambda searcher: searcher.index.status(Summary()),
    "values": lambda searcher: searcher.index.vocabulary(Values("section")),
}


@pytest.fixture(params=ENGINES)
def searcher(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Searcher]:
    documents = [document("a", "A storm came."), document("b", "The storm went.")]
    with open_loaded(request, tmp_path, [located.document for located in documents]) as searcher:
        yield searcher


@pytest.mark.parametrize("was_used", [False, True], ids=["at once", "after a search"])
def test_a_closed_searcher_says_that_it_is_closed(searcher: Searcher, was_used: bool) -> None:
    if was_used:
        assert searcher.search("storm").total == 2
    with searcher:
        pass
    for name, call in CALLS.items():
        with pytest.raises(IndexClosed) as error:
            call(searcher)
            pytest.fail(name)
        message = f"the index {searcher.index.where} is closed: open it again with esr.open"
        assert str(error.value) == message, name
    searcher.close()


def test_what_was_prepared_before_says_so_too(searcher: Searcher) -> None:
    prepared, snapshot = searcher.prepare("storm", Ranking()), searcher.snapshot()
    searcher.close()
    for call in (prepared.search, lambda: snapshot.search("storm")):
        with pytest.raises(IndexClosed, match="is closed: open it again"):
            call()


def test_what_was_found_stays_readable(searcher: Searcher) -> None:
    answer, ids = searcher.search("storm"), searcher.search("storm", records=False)
    searcher.close()
    assert {hit.record.text for hit in answer.hits if hit.record} == {"A storm came.", "The storm went."}
    assert sorted(hit.sentence_id for hit in ids.hits) == ["a.s0", "b.s0"]


def test_a_snapshot_that_is_closed_leaves_its_searcher_open(searcher: Searcher) -> None:
    with searcher.snapshot() as snapshot:
        assert snapshot.search("storm").total == 2
    with searcher.snapshot() as snapshot:
        assert snapshot.search("storm").total == 2
    assert searcher.search("storm").total == 2


# Hits whose ids are read when somebody looks at them.


HITS = [Hit("s7", 2.0, None, 7), Hit("s3", 1.5, None, 3), Hit("s9", 1.5, None, 9)]


def lazy_hits(read: list[int]) -> LazyHits:
    """The hits above; what is read is noted."""

    ordinals, scores = np.array([hit.ordinal for hit in HITS]), np.array([hit.score for hit in HITS])

    def names(places: Places) -> list[str]:
        read.extend(ordinals[places].tolist())
        return [f"s{ordinal}" for ordinal in ordinals[places].tolist()]

    return LazyHits(ordinals, scores, names)


def test_ids_are_read_once_and_not_before_a_hit_is_looked_at() -> None:
    read: list[int] = []
    hits = lazy_hits(read)
    assert len(hits) == 3 and bool(hits) and not read
    assert hits[1] == HITS[1] and list(hits) == HITS and hits[:2] == HITS[:2]
    assert read == [7, 3, 9]


def test_the_ids_alone_are_read_at_the_first_look_too() -> None:
    read: list[int] = []
    ids = lazy_hits(read).ids
    assert len(ids) == 3 and not read
    assert ids[1] == "s3" and list(ids) == ["s7", "s3", "s9"] and ids[1:] == ["s3", "s9"]
    assert read == [7, 3, 9]


def test_of_hits_that_are_scored_anew_only_the_wanted_ids_are_read() -> None:
    read: list[int] = []
    hits = lazy_hits(read).head(2)
    assert hits.rescored(np.array([1]), np.array([9.0])) == [Hit("s3", 9.0, None, 3)]
    assert read == [3] and len(hits) == 2


def test_hits_in_a_list_become_columns() -> None:
    repeated = [Hit("a", 2.0, None), Hit("b", 1.0, None)]
    hits = LazyHits.of(repeated)
    assert hits == repeated and list(hits.ids) == ["a", "b"]
    assert hits.rescored(np.array([1, 0]), np.array([5.0, 4.0])) == [Hit("b", 5.0, None), Hit("a", 4.0, None)]
    assert LazyHits.of(hits) is hits and hits.head(5) is hits


def test_they_equal_the_same_hits() -> None:
    hits = lazy_hits([])
    assert hits == HITS and hits == lazy_hits([])
    assert hits != HITS[:2] and repr(hits) == repr(HITS)


def test_an_index_that_is_gone_still_names_what_it_found(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    load_bare(where, [bare_document("old", "A flood at the bank.", "A river.")])
    with open_searcher(where) as searcher:
        hits = searcher.search("flood", records=False).hits
        load_bare(where, [bare_document("new", "A flood.")], if_exists="replace", keep=0)
        assert searcher.search("flood", records=False).hits[0].sentence_id == "new.s0"
        assert hits[0].sentence_id == "old.s0"


def test_without_a_deadline_the_limit_remains() -> None:
    assert time_remaining(30.0) == 30.0


def test_under_a_deadline_its_rest_remains_up_to_the_limit() -> None:
    with within(5.0):
        assert 4.0 < time_remaining(30.0) <= 5.0
        assert time_remaining(1.0) == 1.0
    assert time_remaining(30.0) == 30.0


def test_an_inner_deadline_does_not_extend_an_outer_one() -> None:
    with within(5.0):
        with within(60.0):
            assert time_remaining(30.0) <= 5.0
        with within(1.0):
            assert time_remaining(30.0) <= 1.0


def test_a_deadline_that_has_passed_makes_the_engine_unreachable() -> None:
    with within(0.01):
        time.sleep(0.02)
        with pytest.raises(EngineUnreachable, match="in the time"):
            time_remaining(30.0)
