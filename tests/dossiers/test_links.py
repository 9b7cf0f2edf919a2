"""Links for reading a dossier: how long they are valid, and what they show."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from esr.dossiers.desk import Desk
from esr.dossiers.links import ReadingLinks
from esr.dossiers.records import Content, NoDossier, NotPermitted, Person
from esr.dossiers.store import Dossiers
from esr.errors import UsageError

ANN, BOB = Person("ann"), Person("bob")


class Clock:
    """The time of the desk."""

    now = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desk(tmp_path: Path, clock: Clock) -> Iterator[Desk]:
    with Desk(str(tmp_path / "desk"), clock=lambda: clock.now) as opened:
        yield opened


def test_a_link_ends_when_it_expires_or_is_revoked(desk: Desk, clock: Clock) -> None:
    links = ReadingLinks(desk)
    id = Dossiers(desk).create(ANN, "Storms").id
    first = links.make(ANN, id, 1)
    clock.now += timedelta(hours=1)
    second = links.make(ANN, id, 2)
    assert links.read(first.token)[0].name == "Storms"
    clock.now += timedelta(hours=23)
    with pytest.raises(NoDossier, match="has expired"):
        links.read(first.token)
    other = Dossiers(desk).create(ANN, "Floods").id
    with pytest.raises(NoDossier, match="no link"):
        links.revoke(ANN, other, second.id)
    assert links.read(second.token)[1] == "ann"
    links.revoke(ANN, id, second.id)
    with pytest.raises(NoDossier, match="revoked"):
        links.read(second.token)
    ended = [(link.id, link.is_revoked) for link in links.list_links(ANN, id)]
    assert ended == [(second.id, True), (first.id, False)], "the newest first"
    assert links.list_links(ANN, other) == []
    log = [(change.action, change.detail) for change in Dossiers(desk).history(ANN, id)[:-1]]
    assert log == [("revoke link", ""), ("link", "until 2026-01-03"), ("link", "until 2026-01-02")]


def test_a_link_is_valid_for_a_month_by_default_and_for_a_year_at_most(desk: Desk) -> None:
    links, id = ReadingLinks(desk), Dossiers(desk).create(ANN, "Storms").id
    assert not links.make(ANN, id).is_revoked
    assert links.make(ANN, id).expires_at == "2026-01-31T00:00:00.000Z"
    assert links.make(ANN, id, 366).expires_at == "2027-01-02T00:00:00.000Z"
    assert links.make(ANN, id, 0.5).expires_at == "2026-01-01T12:00:00.000Z"
    for days in (0, -1, 366.5):
        with pytest.raises(UsageError, match="at most 366 days"):
            links.make(ANN, id, days)


def test_a_link_shows_the_items_and_not_who_else_reads_them(desk: Desk) -> None:
    dossiers, links = Dossiers(desk), ReadingLinks(desk)
    id = dossiers.create(ANN, "Storms").id
    dossiers.add(ANN, id, [Content(document_id="a", sentence_id="a.s0", text="Rain.")])
    dossiers.share(ANN, id, "bob", "writer")
    with pytest.raises(NotPermitted):
        links.make(BOB, id)
    token = links.make(ANN, id).token
    shown, _ = links.read(token)
    assert (shown.role, shown.members, [item.text for item in shown.items]) == ("link", (), ["Rain."])
    for wrong in (token[:-1], f"{token}x", ""):
        with pytest.raises(NoDossier, match="not complete"):
            links.read(wrong)
    dossiers.delete(ANN, id)
    with pytest.raises(NoDossier):
        links.read(token)
