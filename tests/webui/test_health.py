"""The addresses for operators: who reaches them, and what a request for one costs."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from esr.index.factory import open_generations
from esr.index.questions import Readiness
from esr.ranking.searcher import Searcher, open_searcher
from tests.support.elasticsearch import document, load
from tests.support.fake_index import STORM, FakeIndex
from webui.app import create_app
from webui.running.settings import Settings


@pytest.mark.parametrize("path", ["//metrics", "///metrics", "//readyz", "//search"])
def test_an_address_with_repeated_slashes_passes_no_rule_of_a_proxy(client: FlaskClient, path: str) -> None:
    """`/%2fmetrics` is the first of these for an application."""
    answer = client.get("/", environ_overrides={"PATH_INFO": path})
    assert answer.status_code == 404 and "esr_requests_total" not in answer.text


class SlowIndex(FakeIndex):
    """An index whose check takes a while, and is counted."""

    checks = running = most = 0

    def status(self, fact: Any) -> Any:
        if not isinstance(fact, Readiness):
            return super().status(fact)
        type(self).checks += 1
        type(self).running += 1
        type(self).most = max(self.most, self.running)
        time.sleep(0.05)
        type(self).running -= 1
        return None


def test_many_questions_whether_an_index_is_ready_share_a_check() -> None:
    app = create_app(Searcher(SlowIndex(STORM)))
    statuses: list[int] = []
    askers = [
        threading.Thread(target=lambda: statuses.append(app.test_client().get("/readyz").status_code))
        for _ in range(20)
    ]
    for asker in askers:
        asker.start()
    for asker in askers:
        asker.join()
    assert statuses == [200] * 20
    assert SlowIndex.most == 1 and SlowIndex.checks < 20


def test_generations_are_looked_at_once_a_period_however_often_metrics_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    where, looked = str(tmp_path / "index"), []

    def look(location: str) -> Any:
        looked.append(location)
        return open_generations(location)

    monkeypatch.setattr("webui.app.open_generations", look)
    monkeypatch.setattr("webui.app.START_SECONDS", 10**9)  # no period ends during the test
    load(where, [document("a", "A storm came.")])
    with open_searcher(where) as searcher:
        client = create_app(searcher, Settings(access_log=0)).test_client()
        assert client.get("/search.json?q=storm").status_code == 200
        texts = [client.get("/metrics").text for _ in range(3)]
        assert looked == [where] and all("esr_index_made_timestamp_seconds{" in text for text in texts)
        monkeypatch.setattr("webui.app.START_SECONDS", 1e-9)  # the next period
        client.get("/metrics")
        assert looked == [where] * 2
