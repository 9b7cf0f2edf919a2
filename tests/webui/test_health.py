"""The addresses for operators: who reaches them, and what a request for one costs."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from flask.testing import FlaskClient

from esr.index.questions import Readiness
from esr.ranking.searcher import Searcher
from tests.support.fake_index import STORM, FakeIndex
from webui.app import create_app


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
