"""What a collection has is told with the same numbers by the library, the command and the API."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

import esr
from esr.cli.main import main
from esr.following.holdings import Holdings, describe_holdings, list_lacking
from esr.index.view import restrict
from esr.plans.plan import HasSource
from esr.ranking.searcher import Searcher, open_searcher
from tests.index.test_reuse import FIRST, find
from tests.support.elasticsearch import document, load
from webui.app import create_app
from webui.running.settings import Settings

DOCUMENTS = [*FIRST, document("late", "It rained.", date="2024-03-18", source="Daily Post", title="Rain")]


def test_the_numbers_are_those_of_the_collection_and_copies_count_once_looked_for(anywhere: str) -> None:
    load(anywhere, DOCUMENTS)
    with esr.open(anywhere) as index:
        before = index.collection()
        assert (before.documents, before.sentences, before.copies) == (5, 11, None)
        assert (before.first, before.last, before.interval) == ("2024-03-03", "2024-03-18", "week")
        assert before.periods == ["2024-W09", "2024-W10", "2024-W11", "2024-W12"]
        assert before.days[0] == ("2024-02-26", "2024-03-03")
        assert {row.source: (row.sentences, row.counts) for row in before.sources} == {
            "Daily Post": (4, [0, 3, 0, 1]),
            "Northern Wire": (3, [3, 0, 0, 0]),
            "Evening News": (2, [0, 2, 0, 0]),
        }
        assert (before.undated, before.untitled) == (1, 4)
    find(anywhere)
    with open_searcher(anywhere) as searcher:
        holdings = describe_holdings(searcher)
        api = create_app(searcher, Settings(access_log=0)).test_client().get("/api/v1/collection").get_json()
        seen = describe_holdings(Searcher(restrict(searcher.index, HasSource(("Evening News",)))))
    assert holdings.copies == 3  # the sentence of the wire stands in four documents
    assert holdings.enriched == {"reuse": 5}
    printed = CliRunner().invoke(main, ["collection", "--index", anywhere, "--format", "json"]).output
    assert json.loads(printed) == api == holdings.as_dict()
    assert (
        seen.copies is None
        and seen.enriched == {}
        and [row.source for row in seen.sources] == ["Evening News"]
    )


def test_languages_of_most_documents_come_first_and_the_undeclared_one_last(anywhere: str) -> None:
    codes = ("fr", "en", None, "de", "en", None, None)
    load(anywhere, [document(f"d{n}", "It rained.", language=code) for n, code in enumerate(codes)])
    with open_searcher(anywhere) as searcher:
        languages = describe_holdings(searcher).as_dict()["languages"]
    assert [of["language"] for of in languages] == ["en", "de", "fr", None]
    assert [of["documents"] for of in languages] == [2, 1, 1, 3]


def test_the_command_draws_a_line_for_each_source_and_writes_a_table(tmp_path: object) -> None:
    where = f"{tmp_path}/index"
    load(where, DOCUMENTS)
    text = CliRunner().invoke(main, ["collection", "--index", where]).output.splitlines()
    assert text[0] == "11 sentences of 5 documents, 2024-03-03 to 2024-03-18"
    assert "copies       not looked for" in text
    assert "Daily Post             4  █ ▃" in text
    table = CliRunner().invoke(main, ["collection", "--index", where, "--format", "csv"]).output.splitlines()
    assert table[0] == "source,period,sentences" and len(table) == 1 + 3 * 4
    assert "Daily Post,2024-W10,3" in table


def test_an_empty_collection_has_numbers_and_a_table_with_a_head(tmp_path: object) -> None:
    where = f"{tmp_path}/index"
    load(where, [])
    with esr.open(where) as index:
        holdings: Holdings = index.collection()
    assert (holdings.documents, holdings.first, holdings.periods, holdings.sources) == (0, "", [], [])
    printed = CliRunner().invoke(main, ["collection", "--index", where, "--format", "csv"]).output
    assert printed == "source,period,sentences\n"


def test_documents_without_a_title_are_listed_however_long_they_are(tmp_path: Path) -> None:
    long = [document(f"long{n}", *(["It rained."] * 1_100)) for n in range(2)]
    load(f"{tmp_path}/index", [*long, document("short", "It snowed.")])
    with open_searcher(f"{tmp_path}/index") as searcher:
        records, number = list_lacking(searcher, "untitled")
    assert ([record.document_id for record in records], number) == (["long0", "long1", "short"], 3)
