"""The page of alerts: what its form adds, refuses and previews, and who sees and changes which alerts."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from esr.alerts.runs import OPERATOR, read_alert
from esr.dossiers.desk import open_desk
from esr.dossiers.saved_searches import SavedSearches
from tests.webui.access.conftest import MARK, Server
from tests.webui.dossiers.conftest import HOME, Person, text_of

pytestmark = pytest.mark.slow
DELIVER = {"do": "create", "q": "storm", "channel": "mail", "to": "ana@example.org", "when": "at once"}


@pytest.fixture
def app(server: Server, locations: dict[str, str]) -> Flask:
    desk = str(server.file.parent / "desk.sqlite")
    return server.app(locations, desk=desk, alert_to="mailto:*@example.org https://hooks.example.org/*")


@pytest.fixture
def ana(app: Flask, server: Server) -> Person:
    return Person(app, server, "ana")


def ids_of(person: Person) -> list[str]:
    """The ids of the alerts that a person sees."""
    return re.findall(r'id="alert-(\w+)"', person.open("/alerts").get_data(as_text=True))


def test_the_search_of_the_results_is_delivered_with_its_filters(
    app: Flask, server: Server, ana: Person
) -> None:
    page = ana.open("/search?q=storm&source=Sports+Post&k=20&sort=date").get_data(as_text=True)
    (link,) = re.findall(r'href="(/alerts\?[^"]*)"', page)
    link = link.replace("&amp;", "&")
    assert "sort" not in link and "k=" not in link
    form = ana.read(link)
    assert "Filters: source: Sports Post" in form
    weekly = {**DELIVER, "when": "weekly", "day": "friday", "time": "07:30", "zone": "Europe/Berlin"}
    listed = text_of(ana.send(link, **weekly))
    assert "storm · source: Sports Post" in listed
    assert "weekly on Friday at 07:30 (Europe/Berlin) → ana@example.org" in listed
    with open_desk(str(server.file.parent / "desk.sqlite")) as desk:
        (search,) = SavedSearches(desk).list_readable(OPERATOR)
        alert = read_alert(search)
    assert "daily at 07:30 (UTC)" in text_of(ana.send(link, **{**DELIVER, "when": "Daily  7:30"}))
    assert alert is not None and alert.conditions.filters.sources == ("Sports Post",)
    assert (alert.owner, alert.name, alert.index_name, alert.targets) == (
        "ana",
        "storm",
        "news",
        ("mailto:ana@example.org",),
    )


def test_an_alert_by_score_has_the_ranking_of_the_page_and_all_that_its_search_asks_for(
    server: Server, ana: Person
) -> None:
    page = ana.open("/search?q=storm&require=all&furniture=yes&model=bm25&params.b=0.5")
    (link,) = re.findall(r'href="(/alerts\?[^"]*)"', page.get_data(as_text=True))
    ana.send(link.replace("&amp;", "&"), **DELIVER, least_score="-9")
    with open_desk(str(server.file.parent / "desk.sqlite")) as desk:
        (search,) = SavedSearches(desk).list_readable(OPERATOR)
        alert = read_alert(search)
    assert alert is not None and alert.conditions.requires_all and alert.conditions.with_furniture
    assert (alert.conditions.ranking.model, alert.conditions.ranking.params["b"]) == ("bm25", 0.5)


def test_a_search_in_several_languages_becomes_one_by_meaning(ana: Person) -> None:
    form = ana.open("/alerts?q=A+storm+came&languages=all").get_data(as_text=True)
    assert re.search(r'<textarea name="like"[^>]*>A storm came<', form)
    assert 'name="q" value=""' in form


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"to": ""}, "where to?"),
        ({"to": "ana@elsewhere.example"}, "alerts may not be sent to"),
        ({"channel": "webhook", "to": "https://elsewhere.example/"}, "alerts may not be sent to"),
        ({"zone": "Nowhere/Land", "when": "hourly"}, "Nowhere/Land"),
        ({"when": "daily", "time": "25:99"}, "25:99"),
        ({"least_score": "many"}, "least_score is a number"),
        ({"q": ""}, "query"),
    ],
)
def test_what_cannot_be_delivered_is_said_and_the_form_keeps_what_was_typed(
    ana: Person, change: dict[str, str], message: str
) -> None:
    answer = ana.send("/alerts", **{**DELIVER, "name": "Kept words", **change})
    assert answer.status_code == 400
    page = answer.get_data(as_text=True)
    assert message in text_of(answer) and 'value="Kept words"' in page
    assert ids_of(ana) == []


def test_a_preview_shows_what_would_have_come_and_adds_nothing(ana: Person) -> None:
    answer = ana.send("/alerts?source=Sports+Post", **{**DELIVER, "do": "preview"})
    said = text_of(answer)
    assert answer.status_code == 200 and "6 sentences" in said and "A goalkeeper saw the storm" in said
    assert 'value="ana@example.org"' in answer.get_data(as_text=True) and ids_of(ana) == []
    refused = ana.send("/alerts", do="preview", q="", like="A bridge fell.")
    assert refused.status_code == 400 and "vector" in text_of(refused)


def test_alerts_are_paused_resumed_and_deleted_by_their_owner_alone(
    app: Flask, server: Server, ana: Person
) -> None:
    ben = Person(app, server, "ben")
    ana.send("/alerts", **DELIVER)
    (id,) = ids_of(ana)
    assert ids_of(ben) == []
    for do in ("pause", "resume", "delete"):
        assert ben.send("/alerts", do=do, id=id).status_code == 404
    assert "paused" in text_of(ana.send("/alerts", do="pause", id=id))
    assert "paused" not in text_of(ana.send("/alerts", do="resume", id=id))
    ana.send("/alerts", do="delete", id=id)
    assert ids_of(ana) == []


def test_a_form_from_elsewhere_adds_and_deletes_nothing(ana: Person) -> None:
    ana.send("/alerts", **DELIVER)
    (id,) = ids_of(ana)
    for data in (DELIVER, {"do": "delete", "id": id}):
        assert ana.open("/alerts", method="POST", data={**data, "csrf": "x"}).status_code == 403
    assert ids_of(ana) == [id]


def test_nobody_is_offered_alerts_that_cannot_be_made(
    app: Flask, server: Server, locations: dict[str, str]
) -> None:
    part = Person(app, server, "part", "--filter", 'source:"Sports Post"')
    server.add("anybody", "--kind", "anybody")
    client = app.test_client()
    assert client.get("/alerts", base_url=HOME).status_code == 403
    assert "/alerts" not in client.get("/search?q=storm", base_url=HOME).get_data(as_text=True)
    assert "may search all of an index" in part.read("/alerts?q=storm")
    refused = part.send("/alerts", **DELIVER)
    assert refused.status_code == 403 and MARK not in refused.get_data(as_text=True)
