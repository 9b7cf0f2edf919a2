"""A month of alerts by mail and webhook, whose process is killed at random moments: each comes once."""

from __future__ import annotations

import random
import time
from collections import Counter, defaultdict
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from esr.alerts.outbox import Outbox
from esr.alerts.runs import OPERATOR
from esr.dossiers.desk import Desk
from esr.dossiers.saved_searches import SavedSearches
from tests.alerts import month
from tests.alerts.receivers import mail_server, webhook
from tests.support.processes import ForkedProcess

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("alerts", "kills"), [(60, 6), pytest.param(1_000, 40, marks=pytest.mark.endurance)])
def test_each_alert_of_a_month_comes_once_though_its_process_is_killed(
    tmp_path: Path, alerts: int, kills: int
) -> None:
    draw = random.Random(alerts)
    with mail_server() as (mailbox, mail), webhook() as (hook, address):
        month.make_desk(tmp_path, alerts, ("mailto:ann@example.org", address))
        killed = 0
        while killed < kills:
            process = ForkedProcess(month.run_month, tmp_path, alerts, mail)
            time.sleep(draw.uniform(0.2, 1.0 + alerts / 100))
            if not process.is_running:
                assert process.wait() == 0
                break
            process.kill()
            killed += 1
        assert killed, "the month was over too soon"
        ForkedProcess(month.run_month, tmp_path, alerts, mail).finish(timeout=1_200)
        letters = [
            (each["Message-ID"], each["Subject"], each.get_content_type(), mail_text(each))
            for each in mailbox.mails
        ]
        posted = [(each.json["id"], each.json["name"], each.json["items"]) for each in hook.posted]
    copies = len(letters) + len(posted)
    told: dict[str, list[str]] = defaultdict(list)
    by_id: dict[str, tuple[str, list[str]]] = {}
    for id, subject, _, text in letters:
        by_id[id] = subject.partition(":")[0], [line[2:] for line in text.splitlines() if line[:2] == "> "]
    for id, name, items in posted:
        by_id[id] = name, [item["text"] for item in items]
    for name, texts in by_id.values():
        told[name] += texts
    for alert in range(alerts):
        right = [
            f"News of {month.word_of(alert)} on day {day} came in the morning."
            for day in month.list_days(alert)
        ]
        assert sorted(told[month.word_of(alert)]) == sorted(right), (
            "none lost, none twice, no correction told"
        )
    assert copies - len(by_id) <= killed, "only what was under way when its process was killed came again"
    check_digests(tmp_path, alerts)


def mail_text(mail: object) -> str:
    body = mail.get_body(("plain",))  # type: ignore[attr-defined]
    return str(body.get_content())


def check_digests(folder: Path, alerts: int) -> None:
    """No alert has two digests on a day by its clock, and those of a week are made on their day or later."""
    with Desk(str(folder / "desk.sqlite")) as desk:
        zones = {
            search.id: (search.delivery["every"], search.delivery["zone"])
            for search in SavedSearches(desk).list_readable(OPERATOR)
        }
        deliveries = Outbox(desk).deliveries(limit=100_000)
    assert {delivery.state for delivery in deliveries} == {"sent"}
    days: Counter[tuple[str, str]] = Counter()
    for delivery in deliveries:
        every, zone = zones[delivery.search]
        local = datetime.fromisoformat(delivery.made_at).astimezone(ZoneInfo(zone))
        days[delivery.search, local.date().isoformat()] += 1
        if every.startswith("weekly"):
            assert local.weekday() in (4, 5), "Friday, or at the next run after it"
    assert max(days.values()) == 1
