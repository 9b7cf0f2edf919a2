"""Files of all hits: each format holds what the ranking has, in its order, on both engines."""

from __future__ import annotations

import csv
import errno
import io
import json
import os
import re
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlencode
from xml.etree import ElementTree

import msgspec
import pytest
from flask.testing import FlaskClient

from esr.alerts.alert_conditions import SEARCH, read_arguments, read_conditions
from esr.disk_errors import NO_SPACE
from esr.enrichment.enricher import Enricher, VectorSettings
from esr.errors import EngineUnreachable
from esr.following.alerts.saved_searches import read_searches
from esr.following.exports import EXPORTS
from esr.index.filters import Filters
from esr.index.runs.enrichment_run import run_enrichment
from esr.ranking.searcher import Searcher, open_searcher
from tests.support.argument_values import example_value
from tests.support.elasticsearch import document, fresh, load
from tests.support.fake_enricher import write_tiny_encoder
from tests.support.fake_index import FLOOD, STORM, FakeIndex
from tests.support.index_contents import ENGINES, open_loaded
from tests.support.runs import need
from tests.webui.pages.test_results import Q
from webui.answers.downloads import export_file
from webui.app import create_app
from webui.running.problems import NoSpace, describe_error
from webui.running.settings import Settings

PAGES = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
EVIL = '=HYPERLINK("http://evil.example","storm")'
SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def sheet(data: bytes) -> list[list[tuple[str, str]]]:
    """The cells of a workbook: their types and values."""
    with zipfile.ZipFile(io.BytesIO(data)) as book:
        root = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml"))
    assert root.find(f".//{SHEET}f") is None, "a formula"
    return [
        [(cell.get("t", "n"), "".join(cell.itertext())) for cell in row] for row in root.iter(f"{SHEET}row")
    ]


def ids_of(client: FlaskClient, address: str) -> list[str]:
    return [
        json.loads(line)["sentence_id"] for line in client.get(f"/search.jsonl?{address}").text.splitlines()
    ]


@pytest.fixture(scope="module")
def storms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlaskClient]:
    """1,300 sentences about storms, more than pages reach, and one that looks like a formula."""
    where = str(tmp_path_factory.mktemp("exports") / "index")
    documents = [
        document(
            f"d{n}",
            *(f"Storm {n} of kind {m}." for m in range(13)),
            date=f"20{n % 20:02}-01-05",
            metadata={"desk": f"D{n}"},
        )
        for n in range(100)
    ]
    load(where, [*documents, document("evil", EVIL, "Then it went.", title="@SUM(1)", source="\uff1dwide")])
    with open_searcher(where) as searcher:
        yield create_app(searcher, Settings(access_log=0, export_k=1_310)).test_client()


@pytest.mark.parametrize("name", EXPORTS)
def test_each_format_is_a_file_of_its_type(real: FlaskClient, name: str) -> None:
    format = EXPORTS[name]
    if format.needs:
        need(format.needs)
    answer = real.get(f"/search.{format.suffix}?{Q}&k=5", headers=PAGES)
    assert (answer.status_code, answer.mimetype) == (200, format.media_type)
    assert f'"sentences.{format.ending}"' in answer.headers["Content-Disposition"]
    assert answer.headers["Content-Length"] == str(len(answer.data)) and answer.data


def test_all_hits_are_in_the_file_one_by_one_in_the_order_of_the_ranking(storms: FlaskClient) -> None:
    answer = storms.get("/search.csv?q=storm&k=all")
    rows = table(answer.text)
    assert (len(rows), answer.headers["X-Total-Count"]) == (1_301, "1301")
    assert "X-Incomplete" not in answer.headers
    assert [row["rank"] for row in rows] == [str(n) for n in range(1, 1_302)]
    scores = [float(row["score"]) for row in rows]
    assert scores == sorted(scores, reverse=True)
    first = storms.get("/search.json?q=storm&k=100&fold=no&passages=no").json
    assert first is not None
    listed = [hit["sentence_id"] for hit in first["hits"]]
    assert [row["sentence_id"] for row in rows][:100] == listed
    assert ids_of(storms, "q=storm&k=all") == [row["sentence_id"] for row in rows]
    assert ids_of(storms, "q=storm&k=1200") == [row["sentence_id"] for row in rows][:1200]


def test_the_newest_come_first_with_their_scores(storms: FlaskClient) -> None:
    rows = table(storms.get("/search.csv?q=storm&k=all&sort=date&fields=date,score").text)
    dates = [row["date"] for row in rows]
    assert dates == sorted(dates, reverse=True) and len(rows) == 1_301
    assert all(float(row["score"]) for row in rows)


def test_a_limit_is_told_instead_of_failing() -> None:
    limited = Settings(access_log=0, export_k=1_100)
    client = create_app(Searcher(FakeIndex(STORM, FLOOD)), limited).test_client()
    answer = client.get("/search.csv?q=storm&k=1101")
    assert answer.status_code == 400 and answer.json is not None
    assert "from 1 to 1100" in answer.json["error"]["message"]
    small = create_app(Searcher(FakeIndex(STORM, FLOOD)), Settings(access_log=0, export_k=1)).test_client()
    answer = small.get("/search.csv?q=storm&k=all")
    assert answer.headers["X-Incomplete"] == "only the first 1 of 2 sentences"
    assert '"sentences-incomplete.csv"' in answer.headers["Content-Disposition"]
    assert len(table(answer.text)) == 1


def test_columns_are_chosen_in_their_order(storms: FlaskClient) -> None:
    answer = storms.get("/search.csv?q=%22storm+7+of%22&k=all&fields=meta.desk,text&fields=rank,permalink")
    assert answer.text.splitlines()[0] == "\ufeffmeta.desk,text,rank,permalink"
    rows = table(answer.text)
    assert {row["meta.desk"] for row in rows} == {"D7"} and rows[1]["rank"] == "2"
    assert all("/sentence?" in row["permalink"] for row in rows)
    line = json.loads(storms.get("/search.jsonl?q=storm&k=1&fields=text,rank").text)
    assert set(line) == {"sentence_id", "text", "rank"}
    for address in ("/search.bib?q=storm&fields=text", "/search.csv?q=storm&fields=nothing"):
        answer = storms.get(address)
        assert answer.status_code == 400
        assert answer.json is not None and answer.json["error"]["field"] == "fields"


def test_no_cell_is_a_formula(storms: FlaskClient) -> None:
    (row,) = table(storms.get("/search.csv?q=hyperlink&require=all&k=all").text)
    assert (row["text"], row["title"], row["source"]) == ("'" + EVIL, "'@SUM(1)", "'\uff1dwide")
    need("xlsxwriter")
    names, cells = sheet(storms.get("/search.xlsx?q=hyperlink&require=all&k=all").data)
    values = dict(zip((name for _, name in names), cells, strict=True))
    assert values["text"] == ("inlineStr", EVIL) and values["rank"] == ("n", "1")


def test_a_large_sheet_has_all_rows(storms: FlaskClient) -> None:
    need("xlsxwriter")
    rows = sheet(storms.get("/search.xlsx?q=storm&k=all&fields=rank,sentence_id").data)[1:]
    assert [row[1][1] for row in rows] == ids_of(storms, "q=storm&k=all")


def test_citations_have_keys_of_their_own(storms: FlaskClient) -> None:
    items = json.loads(storms.get("/search.csl?q=storm&k=all").text)
    assert len({item["id"] for item in items}) == len(items) == 1_301
    assert storms.get("/search.bib?q=storm&k=all").text.count("@article{") == 1_301
    assert storms.get("/search.ris?q=storm&k=all").text.count("TY  - NEWS") == 1_301
    assert storms.get("/search.csl?q=nowhere&k=all").text == "[]\n"


@pytest.mark.parametrize("suffix", [format.suffix for format in EXPORTS.values()])
def test_an_error_is_never_a_page(storms: FlaskClient, suffix: str) -> None:
    for accept in ({}, PAGES, {"Accept": "text/csv"}):
        answer = storms.get(f"/search.{suffix}?q=storm&k=99999999", headers=accept)
        assert answer.status_code == 400
        assert answer.mimetype in ("application/json", "text/plain")
        assert "from 1 to 1310" in answer.text


def test_an_engine_that_fails_on_the_way_makes_an_error_and_no_half_file() -> None:
    class Failing(FakeIndex):
        def read(self, *args: object) -> list[object]:
            raise EngineUnreachable("gone")

    client = create_app(Searcher(Failing(STORM, FLOOD)), Settings(access_log=0)).test_client()  # type: ignore[arg-type]
    answer = client.get("/search.csv?q=storm&k=all")
    assert answer.status_code == 503 and answer.json is not None


def test_both_engines_write_the_same_file(elasticsearch_url: str, tmp_path: Path) -> None:
    """More hits than Elasticsearch gives in one answer."""
    documents = [
        document(
            f"d{n}",
            *(f"Storm {n} {'near the coast ' * (n % 5)}{m}." for m in range(103)),
            date=f"20{n % 9 + 10}-01-01",
        )
        for n in range(101)
    ]
    written = []
    with ExitStack() as stack:
        for where in (str(tmp_path / "index"), stack.enter_context(fresh(elasticsearch_url))):
            load(where, documents)
            searcher = stack.enter_context(open_searcher(where))
            client = create_app(searcher, Settings(access_log=0)).test_client()
            for order in ("", "&sort=date"):
                written.append(ids_of(client, f"q=storm+coast+after:9y&k=all&fields=text{order}"))
    assert len(written[0]) > 10_000
    assert written[0] == written[2] and written[1] == written[3]


# What the menu of the page says that it exports.


_TOLD = re.compile(r'name="k" value="([^"]*)"[^>]*> ([^<]*)<')


_CARD = re.compile(r'<article[^>]* data-sentence-id="([^"]*)"')


def told_exports(page: str) -> dict[str, int]:
    """The number that the menu tells for each choice of sentences."""
    return {
        value: int(re.sub(r"\D", "", words.split(" of ")[0]) or 0) for value, words in _TOLD.findall(page)
    }


@pytest.fixture(scope="module", params=ENGINES)
def harbours(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FlaskClient]:
    """Articles about a harbour, with sentences that only stand beside its words, and vectors."""
    folder = tmp_path_factory.mktemp("harbours")
    encoder = str(write_tiny_encoder(folder / "tiny", 32, suits_hybrid=True))
    documents = [
        document(
            f"d{n}",
            f"The harbour of town {n} was closed.",
            f"A flood of {n} days had filled the harbour.",
            "People waited for help.",
            "Nobody was hurt there." if n % 2 else "The flood came back at night.",
            "The council met on Monday.",
            date=f"2017-01-{n % 28 + 1:02}",
        )
        for n in range(30)
    ]
    with pytest.MonkeyPatch.context() as patch, open_loaded(request, folder, documents) as searcher:
        patch.setenv("ESR_ENCODER", encoder)
        run_enrichment(searcher.index, Enricher(["vectors"], vectors=VectorSettings(encoder)))
        yield create_app(searcher, Settings(access_log=0)).test_client()


@pytest.mark.parametrize(
    "address",
    [
        "q=harbour+flood",
        "q=harbour",
        "q=harbour+flood&per_document=all",
        "q=harbour+flood&group=document",
        "q=harbour+flood&sort=date",
        "q=harbour+flood&require=all",
        "q=harbour+-flood",
        "q=%22flood+came%22",
        "q=harbour+flood&model=2si",
        "q=harbour+flood&after=2017-01-20",
        "q=harbour+flood&k=50",
    ],
)
def test_the_menu_tells_how_many_rows_each_file_has(harbours: FlaskClient, address: str) -> None:
    page = harbours.get(f"/search?{address}", follow_redirects=True).text
    told = told_exports(page)
    assert len(told) == 2 and "all" in told, told
    own = "&".join(pair for pair in address.split("&") if not pair.startswith("k="))
    for value, number in told.items():
        k = f"&k={value}" if value else ""
        rows = table(harbours.get(f"/search.csv?{own}{k}").text)
        assert len(rows) == number, (address, value)
        if value != "all" and "group" not in address:
            assert [row["sentence_id"] for row in rows] == _CARD.findall(page)


# What browsers keep, as files.


CLIPPING = {
    "sentence_id": "d.s0",
    "document_id": "d",
    "text": "Storm & flood.",
    "title": "=cmd()",
    "date": "2017-03-05",
    "source": "Wire",
    "authors": ["Ann Lee"],
    "speaker": "Bo Day",
    "note": "Ask {her}",
    "tags": ["storm", "to check"],
    "added": "not a field",
}


@pytest.mark.parametrize("name", EXPORTS)
def test_clippings_come_as_files_with_speakers_notes_and_tags(client: FlaskClient, name: str) -> None:
    format = EXPORTS[name]
    sent = [CLIPPING, {"sentence_id": "e.s0", "text": "Calm."}]
    answer = client.post(f"/clippings.{format.suffix}", json=sent)
    assert answer.status_code == 200 and answer.mimetype == format.media_type
    assert f'filename="clippings.{format.ending}"' in answer.headers["Content-Disposition"]
    if name == "xlsx":
        assert len(sheet(answer.data)) == 3
        return
    if name == "csv":
        row = table(answer.text)[0]
        assert (row["title"], row["note"], row["tags"]) == ("'=cmd()", "Ask {her}", "storm; to check")
        assert row["speaker"] == "Bo Day"
        return
    if format.media_type == "text/plain":
        assert answer.text.startswith("Lee, A") and "=cmd()" in answer.text
        assert len(answer.text.splitlines()) == 2
        return
    wanted = {
        "jsonl": ['"note": "Ask {her}"', '"speaker": "Bo Day"', '"tags": ["storm", "to check"]'],
        "bibtex": [
            r"annote = {said by Bo Day: Ask \textbraceleft{}her\textbraceright{}}",
            "keywords = {storm, to check}",
        ],
        "ris": ["N1  - said by Bo Day: Ask {her}\r\n", "KW  - storm\r\nKW  - to check\r\n"],
        "csl": ['"note": "said by Bo Day: Ask {her}"', '"keyword": "storm, to check"'],
    }
    assert all(text in answer.text for text in wanted[name])
    assert "Calm." in answer.text and "not a field" not in answer.text


@pytest.mark.parametrize("body", ["", "{}", "[1]", '[{"text": "no id"}]', '[{"sentence_id": 1, "text": ""}]'])
def test_what_is_no_list_of_clippings_is_one_clear_error(client: FlaskClient, body: str) -> None:
    answer = client.post("/clippings.csv", data=body, headers={"Accept": "application/json"})
    assert answer.status_code == 400
    assert "must be a JSON list of clippings" in answer.get_json()["error"]["message"]


def test_a_search_becomes_lines_that_esr_watch_reads(real: FlaskClient, tmp_path: Path) -> None:
    address = (
        'q="relief+funds"+%5C+ü&from=2017&to=2017-03-04&source=a"b&source=Wire&author=Ann&meta=desk%3DBerlin'
        "&entity=location:China&model=bm25&params.b=0.5&feature=len:satu:2:k=3&boost=variants:0.2&k=5"
    )
    (tmp_path / "searches.toml").write_text(real.get(f"/search.toml?{address}").text, "utf-8")
    (search,) = read_searches(tmp_path / "searches.toml")
    assert (search.name, search.query.text) == ("relief-funds", '"relief funds" \\ ü')
    of_attributes = {"author": "Ann", "meta.desk": "Berlin"}
    sources = ('a"b', "Wire")
    assert search.filters == Filters("2017", "2017-03-04", sources, (), "location:China", of_attributes)
    assert (search.ranking.model, search.ranking.params["b"]) == ("bm25", 0.5)
    assert [f.feature for f in search.ranking.features] == ["len"] and "variants" in search.ranking.boosts
    plain = real.get("/search.toml?q=+storm+%26+&syntax=none").text
    assert plain == '[storm]\nquery = "storm &"\nliteral = true\n'
    assert real.get("/search.toml?q=the+and").status_code == real.get("/search.toml").status_code == 400


@pytest.mark.parametrize("name", SEARCH)
def test_lines_for_esr_watch_have_all_that_decides_which_sentences_are_found(
    real: FlaskClient, tmp_path: Path, name: str
) -> None:
    address = urlencode({"q": "storm", name: example_value(SEARCH[name].type)})
    answer = real.get(f"/search.toml?{address}", headers={"Accept": "application/json"})
    if name == "languages":
        assert answer.status_code == 400 and answer.get_json()["error"]["field"] == name
        return
    assert answer.status_code == 200, answer.text
    (tmp_path / "searches.toml").write_text(answer.text, "utf-8")
    (table,) = tomllib.loads(answer.text).values()
    expected = read_arguments({"q": ["storm"], name: [example_value(SEARCH[name].type)]})
    assert read_conditions(table) == read_conditions(expected) != read_conditions({"query": "storm"})
    (search,) = read_searches(tmp_path / "searches.toml")
    assert search.filters == read_conditions(expected).filters


# Files that are sent while they are made


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    """Sentences whose file is too large to be made before the answer begins."""
    where = str(tmp_path_factory.mktemp("large") / "index")
    text = " ".join(f"The storm number {n} damaged {'many ' * 60}houses." for n in range(100))
    load(where, [document(f"d{n}", text) for n in range(40)])
    with open_searcher(where) as searcher:
        yield searcher


def test_files_that_are_being_sent_leave_the_slots_of_searches(large: Searcher) -> None:
    settings = Settings(access_log=0, searches=1, exports=1, export_deadline=0.5)
    client = create_app(large, settings).test_client()
    with client.get("/search.csv?q=storm&k=all") as sent:
        assert sent.is_streamed and sent.status_code == 200
        assert client.get("/search.json?q=storm").status_code == 200
        other = {"REMOTE_ADDR": "192.0.2.9"}
        busy = client.get("/search.csv?q=storm&k=all", environ_overrides=other)
        assert (busy.status_code, busy.headers["Retry-After"]) == (503, "5")
    with client.get("/search.csv?q=storm&k=1", environ_overrides=other) as small:
        assert small.status_code == 200


def test_a_client_without_a_login_gets_one_file_at_a_time(large: Searcher) -> None:
    client = create_app(large, Settings(access_log=0)).test_client()
    with client.get("/search.csv?q=storm&k=all"):
        with client.get("/search.csv?q=storm&k=all", headers=PAGES) as refused:
            assert (refused.status_code, refused.headers.get("Retry-After")) == (429, "5")
        with client.get("/search.csv?q=storm&k=all", environ_overrides={"REMOTE_ADDR": "192.0.2.9"}) as other:
            assert other.status_code == 200
    with client.get("/search.csv?q=storm&k=all") as again:
        assert again.status_code == 200


def test_a_file_of_lines_needs_no_disk(
    large: Searcher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = create_app(large, Settings(access_log=0)).test_client()
    whole = client.get("/search.jsonl?q=storm&k=all")
    assert len(whole.text.splitlines()) == 40
    whole.close()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with client.get("/search.jsonl?q=storm&k=all") as again:
        assert again.data == whole.data


@pytest.mark.parametrize("number", sorted(NO_SPACE), ids=errno.errorcode.get)
def test_a_full_disk_is_one_clear_message(number: int) -> None:
    def fail(rows: object, columns: object) -> Iterator[bytes]:
        yield b"begin"
        raise OSError(number, os.strerror(number))

    with pytest.raises(NoSpace, match=f"Excel: {os.strerror(number).lower()}") as caught:
        export_file(msgspec.structs.replace(EXPORTS["xlsx"], write=fail), [], [], None, 1)
    problem = describe_error(caught.value)
    assert (problem.status, problem.code) == (503, "no_space")
