"""The tools of `esr mcp` for dossiers, over a server with keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from werkzeug.serving import make_server

import esr
from esr.cli import main
from esr.ranking.ranking import Ranking
from tests.bridges.test_mcp import answer, error
from tests.support.elasticsearch import document, load
from tests.support.runs import need
from tests.support.web_servers import serving
from webui.app import create_app
from webui.running.served_indexes import ServedIndexes
from webui.running.settings import Settings

pytestmark = pytest.mark.slow

NEWS = [document("a", "The river rose.", "Nobody was hurt.", title="Floods", source="Post")]


@pytest.fixture
def assistants(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """By name of a key, the tools that have its rights."""
    build = need("esr.bridges.mcp_server").build_server
    tools = need("esr.bridges.mcp_remote").RemoteServer
    where, access = str(tmp_path / "index"), str(tmp_path / "access.json")
    load(where, NEWS)
    keys = {
        name: CliRunner().invoke(main, ["keys", "add", name, "--file", access]).stdout.strip()
        for name in ("writer", "reader", "stranger")
    }
    limits = Settings(
        desk=str(tmp_path / "desk"), access=access, access_log=0, alert_to="mailto:*@example.org"
    )
    app = create_app(ServedIndexes.at({"index": where}, limits), limits)
    with serving(make_server("127.0.0.1", 0, app, threaded=True)) as server, esr.open(where) as index:
        address = f"http://127.0.0.1:{server.server_port}"
        yield {name: build(index, Ranking(), tools(address, key)) for name, key in keys.items()}


def test_an_assistant_reads_and_adds_with_the_rights_of_its_key(
    assistants: dict[str, Any], tmp_path: Path
) -> None:
    with esr.open_dossiers(tmp_path / "desk", account="ann") as ann:
        id = ann.create("Floods", "for Monday").id
        ann.share(id, "writer", "writer")
        ann.share(id, "reader", "reader")
        added = answer(
            assistants["writer"], "add_to_dossier", id=id, sentences="a.s0", note="why", tags=["x"]
        )
        assert added["items"][0]["text"] == "The river rose."
        (item,) = ann.read(id).items
        assert (item.added_by, item.note, item.tags, item.title) == ("writer", "why", ("x",), "Floods")
    again = answer(assistants["writer"], "add_to_dossier", id=id, sentences=["a.s0", "a.s1"])
    assert (again["total"], again["known"]) == (1, 1)
    read = answer(assistants["reader"], "dossier", id=id)
    assert [(item["status"], item["text"]) for item in read["items"]] == [
        ("same", "The river rose."),
        ("same", "Nobody was hurt."),
    ]
    (listed,) = answer(assistants["reader"], "dossiers")["dossiers"]
    assert (listed["name"], listed["role"], listed["items"]) == ("Floods", "reader", 2)
    refused = error(assistants["reader"], "add_to_dossier", id=id, sentences=["a.s0"])
    assert refused.endswith("ou are a reader of this dossier, and may not change it.")
    assert answer(assistants["stranger"], "dossiers")["total"] == 0
    assert "here is no dossier" in error(assistants["stranger"], "dossier", id=id)
    assert "here is no sentence" in error(assistants["writer"], "add_to_dossier", id=id, sentences=["b"])


def test_an_assistant_tries_keeps_and_pauses_alerts_with_the_rights_of_its_key(
    assistants: dict[str, Any], tmp_path: Path
) -> None:
    writer, stranger = assistants["writer"], assistants["stranger"]
    tried = answer(writer, "alert_preview", query="river", source="Post", days=31)
    assert (tried["sentences"], [example["text"] for example in tried["examples"]]) == (0, [])
    given = {"name": "Rivers", "query": "river", "source": "Post", "least_score": -20.5}
    to = {"to": "mailto:ann@example.org", "every": "daily 07:30", "zone": "Europe/Berlin"}
    (kept,) = answer(writer, "alert_create", **given, **to)["alerts"]
    assert kept["arguments"] == {"q": ["river"], "source": ["Post"], "least_score": ["-20.5"]}
    assert (kept["to"], kept["every"], kept["paused"]) == (["mailto:ann@example.org"], "daily 07:30", False)
    assert "may not be sent to" in error(
        writer, "alert_create", **given, **{**to, "to": "https://x.example/"}
    )
    (paused,) = answer(writer, "alert_pause", id=kept["id"])["alerts"]
    (resumed,) = answer(writer, "alert_pause", id=kept["id"], paused=False)["alerts"]
    assert (paused["paused"], resumed["paused"]) == (True, False)
    (listed,) = answer(writer, "alerts")["alerts"]
    assert listed == resumed
    assert answer(stranger, "alerts")["total"] == 0
    assert "here is no" in error(stranger, "alert_pause", id=kept["id"])


def test_the_command_needs_an_address_and_a_key(tmp_path: Path) -> None:
    need("mcp")
    (tmp_path / "key").write_text("esr_x\n")

    def run(*options: str) -> str:
        done = CliRunner().invoke(main, ["mcp", "--index", str(tmp_path / "no"), *options])
        assert done.exit_code == 2
        return done.output

    assert "give both or none" in run("--dossiers", "https://example.org")
    assert "is an address such as" in run("--dossiers", "example.org", "--key-file", str(tmp_path / "key"))
    assert "cannot read the key" in run("--dossiers", "http://x", "--key-file", str(tmp_path / "none"))
    for text in ("", "esr_x\nesr_y\n", "esr_\u20ac"):
        (tmp_path / "key").write_text(text, "utf-8")
        refused = run("--dossiers", "http://x", "--key-file", str(tmp_path / "key"))
        assert "must hold one key" in refused
        assert "esr_" not in refused


def test_a_server_that_is_away_is_one_line(tmp_path: Path) -> None:
    build = need("esr.bridges.mcp_server").build_server
    tools = need("esr.bridges.mcp_remote").RemoteServer
    load(str(tmp_path / "index"), NEWS)
    with esr.open(str(tmp_path / "index")) as index:
        server = build(index, Ranking(), tools("http://127.0.0.1:9", "esr_x"))
        assert "the server of dossiers and alerts does not answer" in error(server, "dossiers")


@pytest.mark.parametrize(
    ("status", "body"),
    [(400, b'{"error": "no handler"}'), (502, b'["x"]'), (200, b"<html>"), (200, b"[]"), (301, b"")],
)
def test_an_answer_that_is_not_from_esr_is_one_line_with_the_address(
    tmp_path: Path, status: int, body: bytes
) -> None:
    build = need("esr.bridges.mcp_server").build_server
    tools = need("esr.bridges.mcp_remote").RemoteServer

    def reply(environ: Any, start: Any) -> list[bytes]:
        start(f"{status} Any", [("content-type", "application/json")])
        return [body]

    load(str(tmp_path / "index"), NEWS)
    with serving(make_server("127.0.0.1", 0, reply)) as other, esr.open(str(tmp_path / "index")) as index:
        address = f"http://127.0.0.1:{other.server_port}"
        refused = error(build(index, Ranking(), tools(address, "esr_x")), "dossiers")
    assert f"{address} answers {status}, but not as a server of esr: check the address" in refused
