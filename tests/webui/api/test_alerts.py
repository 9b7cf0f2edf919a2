"""Alerts by the API: what a person adds, sees and may not do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from esr.alerts.channels import Channels, Letter
from esr.alerts.runs import AlertRuns
from esr.dossiers.desk import open_desk
from esr.dossiers.records import Person
from tests.support.elasticsearch import document, load
from webui.access.guard import Guard
from webui.app import create_app
from webui.running.served_indexes import ServedIndexes
from webui.running.settings import Settings

BASE = "/api/v1/alerts"
STORMS = {
    "name": "storms",
    "arguments": {"q": ["storm"]},
    "to": ["mailto:ann@example.org"],
    "every": "hourly",
}


class Everybody(Guard):
    """Takes each sender for one person, who may see a part of an index if there is one."""

    person = Person("ann")
    part = ""


class World:
    def __init__(self, folder: Path) -> None:
        self.where = str(folder / "index")
        load(
            self.where,
            [document("a", "A storm came.", date="2017-01-05"), document("b", "Rain.", date="2017-01-06")],
        )
        self.settings = Settings(desk=str(folder / "desk.sqlite"), alert_to="mailto:*@example.org")
        indexes = ServedIndexes.at({"news": self.where}, self.settings)
        self.guard = indexes.guard = Everybody()
        self.client: FlaskClient = create_app(indexes, self.settings).test_client()

    def post(self, body: dict[str, Any], path: str = "", status: int = 200) -> Any:
        answer = self.client.post(BASE + path, json=body)
        assert answer.status_code == status, answer.text
        return answer.get_json()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    yield World(tmp_path)


def test_an_alert_that_is_added_is_listed_delivered_and_deleted(world: World) -> None:
    added = world.post({**STORMS, "every": "at once"})
    assert (added["owner"], added["index"], added["paused"]) == ("ann", "news", False)
    assert world.client.get(BASE).get_json()["alerts"] == [added]
    sent: list[Letter] = []

    class Receiver(Channels):
        def send(self, target: str, letter: Letter) -> None:
            sent.append(letter)

    with open_desk(world.settings.desk) as desk:
        runs = AlertRuns(desk, Receiver({}), variables={"ESR_PAGE": "https://esr.example.org"})
        runs.run(tell_all=True)
    (item,) = json.loads(sent[0].payload)["items"]
    assert item["text"] == "A storm came." and "index=news" in item["permalink"]
    (logged,) = world.client.get(f"{BASE}/log?id={added['id']}").get_json()["deliveries"]
    assert (logged["state"], logged["target"]) == ("sent", "mailto:ann@example.org")
    assert world.post({"id": added["id"], "paused": True}, "/pause")["paused"]
    world.post({"id": added["id"]}, "/delete")
    assert world.client.get(BASE).get_json()["alerts"] == []


def test_a_preview_counts_by_day(world: World) -> None:
    answer = world.client.get(f"{BASE}/preview?q=storm&days=10").get_json()
    assert (answer["sentences"], answer["by_day"], answer["last"]) == (1, {"2017-01-05": 1}, "2017-01-06")
    assert answer["examples"][0]["text"] == "A storm came."
    refused = world.client.get(f"{BASE}/preview")
    assert refused.status_code == 400 and "query is missing" in refused.get_json()["error"]["message"]


def test_alerts_of_others_are_not_there(world: World) -> None:
    id = world.post(STORMS)["id"]
    world.guard.person = Person("bob")
    assert world.client.get(BASE).get_json()["alerts"] == []
    assert world.client.get(f"{BASE}/log?id={id}").status_code == 404
    for path in ("/pause", "/delete"):
        world.post({"id": id, **({"paused": True} if path == "/pause" else {})}, path, status=404)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"to": ["mailto:ann@elsewhere.example"]}, "to"),
        ({"to": ["http://169.254.169.254/latest"]}, "to"),
        ({"to": ["mailto:eve@elsewhere.example,ann@example.org"]}, "to"),
        ({"arguments": {"q": ["storm"], "least_score": ["high"]}}, "arguments"),
        ({"arguments": {"q": ["storm"], "after": ["soon"]}}, "arguments"),
        ({"arguments": {"q": ["storm"], "least_score": ["nan"]}}, "arguments"),
        ({"arguments": {"q": ["storm"], "least_score": ["1"], "ranking": ["{bad"]}}, "arguments"),
        ({"arguments": {"like": ["a storm"], "least_score": ["0"]}}, "arguments"),
        ({"every": "often"}, "every"),
        ({"zone": "Mars/Olympus"}, "every"),
    ],
)
def test_what_cannot_be_delivered_or_run_is_refused(world: World, change: dict[str, Any], field: str) -> None:
    assert world.post({**STORMS, **change}, status=400)["error"]["field"] == field


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({**STORMS, "arguments": {"q": ["\ud800 storm"]}}, ""),
        ({**STORMS, "to": ["mailto:\ud800@example.org"]}, ""),
        ({"id": "\ud800", "paused": True}, "/pause"),
        ({"id": "\ud800"}, "/delete"),
    ],
)
def test_half_of_a_character_is_refused(world: World, body: dict[str, Any], path: str) -> None:
    assert "half of a character" in world.post(body, path, status=400)["error"]["message"]


def test_a_least_score_of_0_is_kept(world: World) -> None:
    arguments = {"q": ["storm rain"], "least_score": ["0"]}
    assert world.post({**STORMS, "arguments": arguments})["arguments"]["least_score"] == ["0.0"]


def test_who_sees_a_part_of_an_index_adds_no_alerts(world: World) -> None:
    world.guard.part = "source:BBC"
    assert world.post(STORMS, status=403)["error"]["code"] == "forbidden"
