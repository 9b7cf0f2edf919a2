from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from esr.engines import opening
from esr.errors import EsrError, IndexMissing, UsageError
from esr.loaders import sources
from webui.server import listen, serve, url

SERVE = "import sys; from webui.server import serve; serve(sys.argv[1], '127.0.0.1', 0)"
ROOT = Path(__file__).parents[2]
DOCUMENT = {"id": "a", "title": "Wind", "text": "It blew. The storms damaged forty houses. Nobody was hurt."}


def test_a_port_in_use_is_one_clear_message() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(EsrError, match=f"cannot serve at 127.0.0.1:{port}: address already in use"):
            listen("127.0.0.1", port)


@pytest.mark.parametrize(
    ("host", "port", "said"),
    [
        ("127.0.0.1", 70_000, "0 to 65535"),
        ("no.such.host.invalid", 8000, "no such host"),
        ("192.0.2.1", 8000, "cannot serve at 192.0.2.1:8000"),
        ("a" * 80, 8000, "no such host"),
    ],
)
def test_an_address_that_cannot_be_used_is_one_clear_message(host: str, port: int, said: str) -> None:
    with pytest.raises(EsrError, match=said) as caught:
        listen(host, port)
    assert isinstance(caught.value, UsageError) == (port > 65_535)


def test_an_address_is_printed_as_a_browser_takes_it() -> None:
    with listen("127.0.0.1", 0) as four:
        assert url(four) == f"http://127.0.0.1:{four.getsockname()[1]}/"
    if socket.has_ipv6:
        with listen("::1", 0) as six:
            assert url(six).startswith("http://[::1]:")


def test_a_missing_index_is_told_before_anything_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webui.server._Server.run", lambda server: None)
    with pytest.raises(IndexMissing):
        serve(str(tmp_path / "none"), "127.0.0.1", 0)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A server over one small document, and its address as it printed it."""
    news = tmp_path / "news.jsonl"
    news.write_text(json.dumps(DOCUMENT))
    where = str(tmp_path / "index")
    opening.loading(where, opening.LoadOptions()).load(sources.documents([str(news)]))
    command = [sys.executable, "-c", SERVE, where]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith(f"esr serves {where} at http://127.0.0.1:"), line
    yield process, line.split()[-1]
    process.kill()
    process.communicate()


@pytest.mark.slow
def test_the_server_answers_and_stops_gracefully(server: tuple[subprocess.Popen[str], str]) -> None:
    process, address = server
    with urllib.request.urlopen(address + "healthz", timeout=20) as answer:
        assert json.load(answer) == {"status": "ok"}
    with urllib.request.urlopen(address + "search.json?q=storm", timeout=20) as answer:
        assert [hit["sentence_id"] for hit in json.load(answer)["hits"]][:1] == ["a.s1"]
    with urllib.request.urlopen(address + "search?q=storm", timeout=20) as answer:
        assert "<mark>storms</mark>" in answer.read().decode()
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(address + "search?q=" + "x" * 9_000, timeout=20)
    assert caught.value.code == 414
    caught.value.close()
    stopped = time.monotonic()
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "Traceback" not in errors
    assert time.monotonic() - stopped < 8
