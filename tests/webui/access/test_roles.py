"""Every operation and page on what a person keeps, by role: none is left out of the tables of roles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from esr.plugin import register, unregister
from tests.webui.access.conftest import Caller, Server, text_of
from tests.webui.access.test_dossiers import TABLE as DOSSIERS
from tests.webui.test_plugins import PLUGIN
from webui.api.operations import OPERATIONS

OWNER, PEOPLE = {"owner"}, {"owner", "stranger", "part"}
ALERTS: dict[str, tuple[set[str], dict[str, Any]]] = {
    "alerts": (PEOPLE, {}),
    "alert_create": (
        {"owner", "stranger"},
        {
            "name": "Floods",
            "arguments": {"q": ["flood"]},
            "to": ["mailto:ann@example.org"],
            "every": "hourly",
        },
    ),
    "alert_preview": (PEOPLE | {"anybody"}, {"q": "storm", "index": "news"}),
    "alert_log": (OWNER, {"id": "ALERT"}),
    "alert_pause": (OWNER, {"id": "ALERT", "paused": True}),
    "alert_delete": (OWNER, {"id": "ALERT"}),
}
"""By operation: who may do it, and its arguments. `part` has a filter, and `metrics` reads figures only."""
READING = {
    *("alerts", "alert_preview", "alert_log", "dossiers", "dossier", "dossier_history", "dossier_links"),
    "dossier_shared",
}
"""Operations that change nothing."""
ELSEWHERE = {"dossiers", "dossier_create", "dossier_shared"}
"""Operations that are for any person, who sees their own dossiers, or for whoever has a link."""


@pytest.fixture
def plugin() -> Iterator[None]:
    register(PLUGIN)
    yield
    unregister(PLUGIN)


@pytest.fixture
def app(server: Server, plugin: None, locations: dict[str, str]) -> Flask:
    server.add("anybody", "--kind", "anybody", "--index", "news")
    desk = str(server.file.parent / "desk.sqlite")
    return server.app(locations, desk=desk, alert_to="mailto:*@example.org")


@pytest.fixture
def callers(server: Server, app: Flask) -> dict[str, Caller]:
    client = app.test_client()
    keys = {
        "owner": server.add("owner", "--index", "news"),
        "stranger": server.add("stranger", "--index", "news"),
        "part": server.add("part", "--index", "news", "--filter", 'source:"Sports Post"'),
        "metrics": server.add("metrics", "--kind", "metrics"),
    }
    return {**{name: Caller(client, key) for name, key in keys.items()}, "anybody": Caller(client, None)}


def call(caller: Caller, operation: str, arguments: dict[str, Any]) -> Any:
    known = OPERATIONS[operation]
    path = f"/api/v1{known.path}"
    if known.method == "GET":
        return caller(path, **arguments)
    return caller(path, "POST", body=arguments, **({"index": "news"} if path.endswith("/alerts") else {}))


def test_the_tables_have_every_operation_on_dossiers_and_alerts() -> None:
    def name(path: str, method: str) -> str:
        part = path.removeprefix("/dossiers/")
        return f"{part} POST" if (part, method) == ("links", "POST") else part

    kept = {known.name for known in OPERATIONS.values() if known.path.startswith(("/dossiers", "/alerts"))}
    dossiers = {
        known.name
        for known in OPERATIONS.values()
        if known.path.startswith("/dossiers/") and name(known.path, known.method) in DOSSIERS
    }
    assert len(dossiers) == len(DOSSIERS)
    assert kept == dossiers | set(ALERTS) | ELSEWHERE
    safe = {name for name in kept if OPERATIONS[name].method == "GET"}
    assert safe == READING, "what changes something is posted"


@pytest.mark.slow
def test_each_operation_on_alerts_is_for_the_roles_that_the_table_names(callers: dict[str, Caller]) -> None:
    for operation, (allowed, arguments) in ALERTS.items():
        for name, caller in callers.items():
            created = {**ALERTS["alert_create"][1], "name": "Secret storms"}
            id = call(callers["owner"], "alert_create", created).get_json()["id"]
            answer = call(caller, operation, {**arguments, **({"id": id} if "id" in arguments else {})})
            if name in allowed:
                assert answer.status_code == 200, (operation, name, answer.get_json())
            else:
                expected = 404 if name in PEOPLE and "id" in arguments else 403
                assert answer.status_code == expected, (operation, name, answer.get_json())
            if name != "owner":
                assert "secret storms" not in text_of(answer), (operation, name)
                (kept,) = (
                    one
                    for one in call(callers["owner"], "alerts", {}).get_json()["alerts"]
                    if one["id"] == id
                )
                assert not kept["paused"], (operation, name)


def test_plugins_are_for_who_may_search_the_index_and_not_for_keys_of_metrics(
    callers: dict[str, Caller],
) -> None:
    assert {*PLUGIN.pages, *PLUGIN.operations} == {"found", "echo", "change", "fail"}
    for path in ("/plugins/found", "/api/v1/plugins/echo"):
        for name, caller in callers.items():
            assert caller(path, q="storm").status_code == (403 if name == "metrics" else 200), (path, name)
            assert caller(path, q="storm", index="other").status_code == 403, (path, name)
    for caller in callers.values():  # no role may change an index, or sees why a plug-in failed
        assert caller("/api/v1/plugins/change").status_code in (403, 500, 400)
        failed = caller("/api/v1/plugins/fail")
        assert failed.status_code in (403, 500) and "secret" not in text_of(failed)
