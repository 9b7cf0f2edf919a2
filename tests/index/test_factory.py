from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from esr.errors import UsageError
from esr.folder.index import EmbeddedIndex
from esr.folder.write.folder_writer import FolderWriter
from esr.index.factory import (
    is_elasticsearch,
    open_delivery,
    open_generations,
    open_index,
    open_migration,
    open_priors,
    open_writer,
)
from esr.index.writer import IF_EXISTS, LoadOptions
from esr.ranking.searcher import open_searcher
from tests.support.folder_index import document, load


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


def test_the_error_for_a_location_does_not_contain_its_password() -> None:
    with pytest.raises(UsageError) as caught:
        open_generations("ftp://me:secret@host/news")
    assert "secret" not in str(caught.value)


def test_unsuitable_options_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    where = str(tmp_path / "index")
    for options, message in (
        (LoadOptions(if_exists="replce"), "unknown choice for --if-exists 'replce': did you mean 'replace'"),
        (LoadOptions(shards=3), "--shards is for Elasticsearch"),
        (LoadOptions(analyzer="englsh"), "unknown analyzer 'englsh': did you mean 'english'"),
    ):
        with pytest.raises(UsageError) as caught:
            open_writer(where, options)
        assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_can_be_loaded_into(tmp_path: Path) -> None:
    load(tmp_path, [document("A", "one")])
    assert EmbeddedIndex(str(tmp_path)).status()["sentences"] == 1


def test_the_default_analyzer_stems_and_titles_count(tmp_path: Path) -> None:
    load(tmp_path / "index", [document("A", "one")], analyzer=None)
    description = EmbeddedIndex(str(tmp_path / "index")).description
    assert description.as_dict() == {"analyzer": "english-stem", "analyzer_version": 3, "title": True}


def test_every_choice_of_if_exists_is_explained() -> None:
    assert set(IF_EXISTS) == {"fail", "replace", "append"}
    assert all(IF_EXISTS.values())
