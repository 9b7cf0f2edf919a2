"""`esr mcp`, called by the client of the package itself."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import esr
from esr.bridges.mcp import mcp as command
from esr.cli import main
from esr.extras import install_command
from esr.ranking.ranking import Ranking
from tests.cli.conftest import call as run_command
from tests.support import page_corpus
from tests.support.elasticsearch import fresh
from tests.support.process import free_ports
from tests.support.processes import in_thread, wait_until
from tests.support.runs import need

pytestmark = pytest.mark.slow

COMMAND = ["-c", "from esr.cli import run; run()", "mcp"]
QUERY = "earthquake relief China"


def call(server: Any, tool: str, **arguments: Any) -> Any:
    """What a client gets that calls one tool."""

    async def run() -> Any:
        async with need("mcp").Client(server) as client:
            return await client.call_tool(tool, arguments)

    return in_thread(need("anyio").run, run)


def answer(server: Any, tool: str, **arguments: Any) -> dict[str, Any]:
    """The answer, which must be no error, the same as text and as data, and within its budget."""
    result = call(server, tool, **arguments)
    (content,) = result.content
    assert not result.is_error, content.text
    assert json.loads(content.text) == result.structured_content
    assert len(content.text) <= arguments.get("budget", 8000)
    return dict(result.structured_content)


def error(server: Any, tool: str, **arguments: Any) -> str:
    """The line that says what is wrong with a call."""
    result = call(server, tool, **arguments)
    (content,) = result.content
    assert result.is_error
    assert "\n" not in content.text
    return str(content.text)


def build_server(index: Any) -> Any:
    return need("esr.bridges.mcp_server").build_server(index, Ranking())


@pytest.fixture(scope="module")
def server(where: str) -> Iterator[Any]:
    with esr.open(where) as index:
        yield build_server(index)


# Answers


def test_sentences_come_in_the_order_of_a_search_with_id_text_neighbours_and_citation(
    server: Any, where: str
) -> None:
    found = answer(server, "search", query=QUERY, k=5)["hits"]
    with esr.open(where) as index:
        hits = index.search(QUERY, 50)
    ids = [hit.id for hit in hits]
    assert len(found) == 5
    assert [ids.index(hit["id"]) for hit in found] == sorted(ids.index(hit["id"]) for hit in found)
    best = hits[0]
    assert found[0]["text"] == best.text
    assert (found[0].get("before"), found[0].get("after")) == (best.previous, best.next)
    for part in (best.title, best.source, (best.date or "")[:10], best.url):
        assert part and part in found[0]["citation"]


def test_a_sentence_of_an_answer_is_found_again_by_its_id_and_its_text_is_that_of_the_article(
    server: Any,
) -> None:
    for hit in answer(server, "search", query=QUERY)["hits"]:
        article = answer(server, "document", id=hit["id"], budget=20_000)
        assert {"id": hit["id"], "text": hit["text"]} in article["sentences"]
        assert article["document_id"] == hit["document_id"]
        assert article["citation"] == hit["citation"]


def test_a_repeat_is_folded_and_counted(server: Any) -> None:
    hits = answer(server, "search", query=QUERY, k=20)["hits"]
    assert any(hit.get("repeats") for hit in hits)
    assert len({hit["text"] for hit in hits}) == len(hits)


def test_filters_and_order_are_those_of_the_command_line(server: Any) -> None:
    some = answer(server, "search", query=QUERY, source="northern wire", k=50)
    assert some["hits"]
    assert all("Northern Wire" in hit["citation"] for hit in some["hits"])
    newest = answer(server, "search", query="earthquake", sort="date", k=50, budget=100_000)
    assert newest["total"] >= len(newest["hits"]) > 0
    assert answer(server, "search", query=QUERY, before="1990")["total"] == 0
    assert (
        "did you mean 'Northern Wire'"
        in answer(server, "search", query=QUERY, source=["northern wir"])["note"]
    )


@pytest.mark.parametrize("budget", [500, 700, 1500, 4000, 20_000])
def test_no_answer_is_longer_than_its_budget_and_says_what_it_leaves_out(server: Any, budget: int) -> None:
    whole = answer(server, "search", query=QUERY, k=20, budget=100_000)
    found = answer(server, "search", query=QUERY, k=20, budget=budget)
    assert found["hits"]
    assert len(found["hits"]) + found.get("left_out", 0) == len(whole["hits"])
    assert [h["id"] for h in found["hits"]] == [h["id"] for h in whole["hits"]][: len(found["hits"])]
    if budget > 1500:
        assert found["hits"] == whole["hits"][: len(found["hits"])]
    for tool, arguments in (
        ("document", {"id": "earthquake-relief"}),
        ("document", {"id": "hostile"}),
        ("similar", {"id": "earthquake-relief.s0"}),
        ("names", {}),
    ):
        answer(server, tool, budget=budget, **arguments)


def test_an_article_is_read_on_from_where_the_budget_ended(server: Any) -> None:
    whole = answer(server, "document", id="earthquake-relief", budget=100_000)
    assert whole["next"] is None
    read, start = [], 0
    while start is not None:
        part = answer(server, "document", id="earthquake-relief", start=start, budget=600)
        assert part["start"] == start
        read += part["sentences"]
        start = part["next"]
    assert read == whole["sentences"]
    assert len(read) == whole["total"]


def test_what_stands_around_a_sentence_is_on_both_sides_of_it(server: Any) -> None:
    whole = answer(server, "document", id="earthquake-relief", budget=100_000)
    middle = whole["sentences"][whole["total"] // 2]["id"]
    around = answer(server, "document", id=middle, budget=900)
    ids = [sentence["id"] for sentence in around["sentences"]]
    assert 0 < ids.index(middle) < len(ids) - 1
    assert len(ids) < whole["total"]


def test_a_timeline_counts_as_the_command_does(server: Any, where: str) -> None:
    found = answer(server, "timeline", query="earthquake", interval="month")
    printed = run_command(
        "timeline", "earthquake", "--interval", "month", "--format", "json", "--index", where
    )
    expected = json.loads(printed.stdout)
    (series,) = expected["series"]
    counts = {period: n for period, n in zip(expected["periods"], series["counts"], strict=True) if n}
    assert found["counts"] == counts
    assert [peak["id"] for peak in found["peaks"]] == [p["sentence"]["sentence_id"] for p in series["peaks"]]
    assert all(peak["citation"] for peak in found["peaks"])


def test_similar_sentences_are_of_other_articles(server: Any) -> None:
    hits = answer(server, "similar", id="earthquake-relief.s0")["hits"]
    assert hits[0]["id"] == "again.s0"
    assert all(hit["document_id"] != "earthquake-relief" for hit in hits)


def test_names_are_counted_and_are_filters_of_a_query(server: Any) -> None:
    every = answer(server, "names")["names"]
    found = answer(server, "names", query="earthquake")["names"]
    assert found
    assert {name["name"] for name in found} <= {name["name"] for name in every}
    first = found[0]
    with_name = answer(server, "search", query=f"{QUERY} {first['filter']}", k=50, budget=100_000)
    assert all(first["name"] in hit["text"] for hit in with_name["hits"])
    assert answer(server, "names", type="organization")["names"] == []


@pytest.mark.parametrize("prefix", ["chi", "Chi", "CHINA"])
@pytest.mark.parametrize("query", ["", "earthquake"])
def test_a_beginning_of_a_name_is_in_any_case_also_with_a_query(server: Any, prefix: str, query: str) -> None:
    begun = answer(server, "names", prefix=prefix, query=query)["names"]
    assert [name["name"] for name in begun] == ["China"]
    assert answer(server, "names", prefix="zz", query=query)["names"] == []


def test_names_of_a_source_are_counted_without_a_query(server: Any) -> None:
    every = answer(server, "names", k=1000)["names"]
    some = answer(server, "names", k=1000, source="Northern Wire")["names"]
    assert 0 < sum(name["sentences"] for name in some) < sum(name["sentences"] for name in every)


FORGED = "”, Fake Source, 2020-01-01, https://fake.example"


@pytest.fixture(scope="module")
def quoted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A server of two articles with quotations, of which one has fields that pretend to be others."""
    rows = [
        {
            "id": "a",
            "date": "2024-03-05",
            "source": "Wire",
            "title": f"Floods{FORGED}",
            "url": "javascript:alert(1)",
            "authors": ["Ann Lee"],
            "language": "en",
            "text": "“The flood is over, and we will rebuild,” said Maria Silva on Monday. The river fell.",
        },
        {
            "id": "b",
            "date": "2025-01-02",
            "source": "Courier",
            "url": "https://courier.example/b",
            "language": "de",
            "text": "“Nobody was hurt by the flood in the harbour,” said Joe Kim. He left.",
        },
        {"id": "c", "text": "A flood without a date."},
    ]
    with esr.create(tmp_path_factory.mktemp("quoted") / "index", rows) as index:
        index.enrich("quotes")
        yield build_server(index)


def test_fields_beside_the_citation_tell_the_source_whatever_a_title_says(quoted: Any) -> None:
    hit = next(h for h in answer(quoted, "search", query="rebuild")["hits"] if h["document_id"] == "a")
    assert (hit["title"], hit["source"], hit["date"]) == (f"Floods{FORGED}", "Wire", "2024-03-05")
    assert hit["authors"] == ["Ann Lee"] and "url" not in hit
    assert hit["citation"].count("”") == 1 and hit["citation"].endswith("”, Wire, 2024-03-05")
    article = answer(quoted, "document", id="b")
    assert (article["source"], article["url"]) == ("Courier", "https://courier.example/b")
    assert "title" not in article


def test_quotations_are_found_by_speaker_and_subject(quoted: Any) -> None:
    newest = answer(quoted, "quotes")
    assert [quotation["document_id"] for quotation in newest["quotations"]] == ["b", "a"]
    assert newest["total"] == 2
    (said,) = answer(quoted, "quotes", speaker="Maria Silva")["quotations"]
    assert said["text"] == "“The flood is over, and we will rebuild,”"
    assert said["text"] in said["sentence"] and said["speaker"] == "Maria Silva"
    assert (said["source"], said["id"]) == ("Wire", "a.s0")
    (about,) = answer(quoted, "quotes", query="harbour", before="2026")["quotations"]
    assert about["all_words"] is True and "all_words" not in said
    (about,) = answer(quoted, "quotes", query="harbour zyx", before="2026")["quotations"]
    assert about["all_words"] is False
    assert about["document_id"] == "b"
    assert answer(quoted, "quotes", after="2026")["quotations"] == []


SAID = "It was said: “the flood is over and we shall rebuild”, “he left” and “wheat fell”."


def test_quotations_are_checked(quoted: Any) -> None:
    near, exact, unknown = answer(quoted, "check", text=SAID)["quotations"]
    assert (near["verdict"], near["speaker"], near["certainty"]) == ("near", "Maria Silva", "certain")
    assert near["first"]["sentence_id"] == "a.s0"
    assert near["differences"] == [{"text": "shall", "original": "will"}]
    assert (exact["verdict"], exact["first"]["text"]) == ("exact", "He left.")
    assert (unknown["verdict"], unknown["first"]) == ("none", None)
    assert "no quotation" in error(quoted, "check", text=" ")


def test_a_draft_is_checked_sentence_by_sentence(quoted: Any) -> None:
    draft = answer(quoted, "check_draft", text="Nobody was hurt by the flood. Joe Kym left 7 harbours.")
    first, second = draft["sentences"]
    assert first["evidence"]["sentence_id"] == "b.s0" and first["evidence"]["source"] == "Courier"
    assert second["numbers"] == [{"text": "7", "verdict": "none", "beside": []}]
    assert [name["text"] for name in draft["names"]] == ["Joe Kym"]
    assert draft["quotations"] and draft["total"] == 2


def test_copies_are_left_out_and_counted_by_source(tmp_path: Path, server: Any) -> None:
    text = "The harbour authority closed both piers on Monday after a ship struck the breakwater."
    files = [
        {"id": source, "source": source, "date": date, "text": f"{text}\n\nShips of {source} left."}
        for source, date in (("Wire", "2024-03-05"), ("Courier", "2024-03-06"))
    ]
    with esr.create(tmp_path / "index", files) as loaded:
        loaded.enrich("reuse")
        copies = build_server(loaded)
        found = answer(copies, "search", query="harbour piers", independent=True)
        assert [hit["id"] for hit in found["hits"] if hit["text"] == text] == ["Wire.s0"]
        pair = {"origin": "Wire", "taker": "Courier", "sentences": 1}
        assert answer(copies, "reuse") == {"total": 1, "pairs": [pair]}
        assert answer(copies, "reuse", least=2)["pairs"] == []
        of_query = [answer(copies, "search", query="harbour ships", per_document=n)["hits"] for n in (1, 2)]
        assert [len(hits) for hits in of_query] == [2, 3]
        assert "per_document" in error(copies, "search", query="ship", sort="date", per_document=1)
    for tool, arguments in (("search", {"query": QUERY, "independent": True}), ("reuse", {})):
        assert "esr enrich --only reuse" in error(server, tool, **arguments)


def test_the_contents_of_an_index_are_its_sources_dates_and_languages(quoted: Any, server: Any) -> None:
    found = answer(quoted, "contents")
    assert (found["documents"], found["sentences"]) == (3, 5)
    assert (found["first"], found["last"], found["undated"]) == ("2024-03-05", "2025-01-02", 1)
    assert found["years"] == {"2024": 2, "2025": 2}
    assert found["languages"] == {"en": 1, "de": 1}
    assert (found["has_quotations"], found["has_names"]) == (True, False)
    assert sorted(each["source"] for each in found["sources"]) == ["Courier", "Wire"]
    assert answer(server, "contents")["has_names"]
    assert answer(server, "contents", budget=500)["sources"]


def test_answers_satisfy_the_schemas_of_the_tools(server: Any, quoted: Any) -> None:
    validator = need("jsonschema").Draft202012Validator

    async def run() -> Any:
        async with need("mcp").Client(server) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in in_thread(need("anyio").run, run)}
    for one, tool, arguments in (
        (server, "search", {"query": QUERY}),
        (server, "search", {"query": QUERY, "budget": 500}),
        (server, "document", {"id": "earthquake-relief", "budget": 600}),
        (server, "timeline", {"query": "earthquake"}),
        (server, "similar", {"id": "earthquake-relief.s0"}),
        (server, "names", {}),
        (quoted, "quotes", {}),
        (quoted, "quotes", {"budget": 500}),
        (quoted, "check", {"text": SAID}),
        (quoted, "check", {"text": SAID, "budget": 700}),
        (server, "evidence", {"claim": "No relief reached China"}),
        (quoted, "check_draft", {"text": f"{SAID} Maria Silvo saw 3 floods in the harbour."}),
        (quoted, "contents", {}),
    ):
        schema = tools[tool].output_schema
        data = answer(one, tool, **arguments)
        validator(schema).validate(data)
        assert {*data} <= {*schema["properties"]}
        for items in (value for value in data.values() if isinstance(value, list)):
            (name,) = (n for n, value in data.items() if value is items)
            reference = schema["properties"][name]["items"]["$ref"].rpartition("/")[2]
            for item in items:
                assert {*item} <= {*schema["$defs"][reference]["properties"]}


def test_the_page_of_tools_is_what_its_generator_prints() -> None:
    need("mcp")
    from tools.references.assistants import build_page

    written = (Path(__file__).resolve().parents[2] / "docs" / "mcp-tools.md").read_text("utf-8")
    assert written == build_page(), "run: python -m tools.references.assistants > docs/mcp-tools.md"


def test_ids_are_never_cut(tmp_path: Path) -> None:
    long = "x" * 300
    article = {"id": long, "title": "A title " * 100, "text": f"Rivers rose {'and rose ' * 200}on Monday."}
    with esr.create(tmp_path / "index", [article]) as index:
        server = build_server(index)
        (hit,) = answer(server, "search", query="rivers", budget=1000)["hits"]
        assert (hit["id"], hit["document_id"], hit["cut"]) == (f"{long}.s0", long, True)
        assert hit["text"].startswith("Rivers rose") and hit["text"].endswith("…")
        assert "need a budget of" in error(server, "search", query="rivers", budget=500)


def test_half_a_surrogate_pair_in_a_text_is_no_failure() -> None:
    fit = need("esr.bridges.mcp_budget").fit
    assert fit({}, "hits", [{"text": "a\ud800"}], 500).structured_content == {"hits": [{"text": "a?"}]}


def test_both_engines_give_the_same_answers(server: Any, elasticsearch_url: str) -> None:
    with fresh(elasticsearch_url) as where:
        page_corpus.store(where)
        with esr.open(where) as index:
            other = build_server(index)
            for tool, arguments in (
                ("search", {"query": QUERY, "k": 5, "window": 2}),
                ("search", {"query": "earthquake location:China", "sort": "date", "source": "northern wire"}),
                ("document", {"id": "earthquake-relief.s5", "budget": 900}),
                ("timeline", {"query": "earthquake"}),
                ("similar", {"id": "earthquake-relief.s0", "k": 3}),
                ("names", {"query": "earthquake"}),
                ("names", {"prefix": "Chi"}),
                ("names", {"source": "Northern Wire"}),
                ("quotes", {}),
                ("check", {"text": "a strong earthquake struck a mountain county"}),
                ("evidence", {"claim": "A strong earthquake did not shake China"}),
                ("contents", {}),
            ):
                assert answer(other, tool, **arguments) == answer(server, tool, **arguments), tool
            assert "there is no document" in error(other, "document", id="nothing")


# Errors


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("search", {}, "search: argument 'query': field required"),
        ("search", {"query": "the"}, "the query has only stop words: give at least one word to search for"),
        ("search", {"query": "x", "limit": 5}, "unknown argument of search 'limit'"),
        ("search", {"query": "x", "k": "many"}, "argument 'k'"),
        (
            "search",
            {"query": "x", "k": 0},
            "search: argument 'k': input should be greater than or equal to 1",
        ),
        ("search", {"query": "x", "after": "someday"}, "a date such as '2024-01-31', not 'someday'"),
        (
            "search",
            {"query": "x", "before": "soon"},
            "'before' is a date such as '2024-01-31', not 'soon'",
        ),
        ("search", {"query": "x", "after": "2018", "before": "2017"}, "the first day is after the last"),
        ("search", {"query": "x", "sort": "best"}, "input should be 'score', 'date' or 'oldest', not 'best'"),
        ("search", {"query": "x", "budget": 10}, "greater than or equal to 500"),
        ("document", {"id": "nothing"}, "there is no document or sentence 'nothing'"),
        ("document", {"id": "earthquake-relief", "start": 10_000}, "start is from 0 to"),
        ("similar", {"id": "nothing.s0"}, "nothing.s0"),
        ("names", {"type": "animal"}, "input should be 'person', 'location' or 'organization'"),
        ("serach", {"query": "x"}, "unknown tool 'serach': did you mean 'search'?"),
    ],
)
def test_a_wrong_call_gets_one_line_that_says_what_is_wrong(
    server: Any, tool: str, arguments: dict[str, Any], message: str
) -> None:
    assert message in error(server, tool, **arguments)


def test_an_index_without_names_and_quotations_says_how_they_are_found(tmp_path: Path) -> None:
    articles = Path("examples/articles.jsonl").resolve()
    assert run_command("load", articles, "--index", tmp_path / "plain").exit_code == 0
    with esr.open(tmp_path / "plain") as index:
        assert "esr enrich finds them" in error(build_server(index), "names")
        assert "esr enrich --only quotes" in error(build_server(index), "quotes")


def test_without_the_extra_the_command_says_what_to_install(
    where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    result = run_command("mcp", "--index", where)
    assert result.exit_code == 2
    assert "esr mcp" in result.stderr and install_command("mcp") in result.stderr


def test_tools_are_marked_as_reading_only_and_describe_their_arguments(server: Any) -> None:
    async def run() -> Any:
        async with need("mcp").Client(server) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in in_thread(need("anyio").run, run)}
    assert [*tools] == [
        "search",
        "document",
        "timeline",
        "similar",
        "names",
        "quotes",
        "check",
        "check_draft",
        "evidence",
        "reuse",
        "contents",
    ]
    text = command.help
    assert [name for name in tools if not re.search(rf"\b{name}\b", text)] == [], "the help of esr mcp"
    for tool in tools.values():
        assert tool.annotations.read_only_hint and tool.description
    assert "description" in tools["search"].input_schema["properties"]["query"]


# Real processes


def test_a_client_talks_to_the_command_over_standard_input_and_output(where: str) -> None:
    parameters = need("mcp").StdioServerParameters(
        command=sys.executable, args=[*COMMAND, "--index", where], env={**os.environ}
    )
    found = answer(need("mcp").stdio_client(parameters), "search", query=QUERY, k=3)
    with esr.open(where) as index:
        assert found["hits"][0]["id"] == index.search(QUERY, 1)[0].id
    assert "argument 'k'" in error(need("mcp").stdio_client(parameters), "search", query=QUERY, k=0)


@pytest.fixture(scope="module")
def address(where: str) -> Iterator[str]:
    """Of a server that speaks streamable HTTP."""
    (port,) = free_ports(1)
    names = ["--allow-host", "search.example.org"]
    command = [sys.executable, *COMMAND, "--index", where, "--http", "--port", str(port), *names]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        try:
            url = f"http://127.0.0.1:{port}/mcp"
            assert process.stderr is not None
            assert process.stderr.readline().decode().endswith(f" at {url}\n")
            wait_until(lambda: post(url) is not None)
            yield url
        finally:
            process.terminate()


def post(url: str, **headers: str) -> int | None:
    """The status of an answer to a client with these headers, None if nothing listens."""
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    request = urllib.request.Request(url, json.dumps(body).encode(), sent | headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return int(response.status)
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code
    except OSError:
        return None


def test_a_client_talks_to_the_command_over_streamable_http(address: str) -> None:
    assert answer(address, "search", query=QUERY, k=3)["hits"]
    assert answer(address, "document", id="earthquake-relief")["sentences"]
    assert "there is no document" in error(address, "document", id="nothing")


def test_a_single_request_without_a_session_is_a_call(address: str) -> None:
    call = {"name": "search", "arguments": {"query": QUERY, "k": 1}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}).encode()
    sent = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    with urllib.request.urlopen(urllib.request.Request(address, body, sent), timeout=60) as response:
        assert len(json.load(response)["result"]["structuredContent"]["hits"]) == 1


def test_only_known_names_of_the_server_and_pages_of_its_own_are_answered(address: str) -> None:
    assert post(address) == 200
    assert post(address, Host="search.example.org") == 200
    assert post(address, Host="search.example.org:443", Origin="https://search.example.org") == 200
    assert post(address, Host="evil.example.org") == 421
    assert post(address, Host="127.0.0.1.evil.example.org:80") == 421
    assert post(address, Origin="https://evil.example.org") == 403


def test_a_port_that_is_taken_is_one_line(address: str, where: str) -> None:
    port = address.split(":")[2].split("/")[0]
    result = run_command("mcp", "--index", where, "--http", "--port", port)
    assert result.exit_code == 1
    assert f"Error: cannot listen on 127.0.0.1:{port}: Address already in use" in result.stderr


def test_other_commands_do_not_import_the_package() -> None:
    program = "import sys; from esr.cli import main; main(['models'], standalone_mode=False)"
    program += "; print({'mcp', 'pydantic', 'anyio'} & {*sys.modules})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"
    assert "mcp" in main.commands
