"""The pages of dossiers and alerts in a language that shows which texts are not translated."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from tests.support.pseudo_language import NAME, UnmarkedText, make_pseudo_language
from tests.webui.access.conftest import Server
from tests.webui.dossiers.conftest import Person, text_of
from webui.translations.language import LANGUAGES

pytestmark = pytest.mark.slow
ALERT = {"do": "create", "q": "storm", "channel": "mail", "to": "ana@example.org", "when": "weekly"}
FORMATS = frozenset(
    "CSV Excel BibTeX RIS CSL-JSON CSL JSON APA MLA Chicago Markdown HTML Word esr".split()  # noqa: SIM905
)
DATA = frozenset(("news", "other", "k=1:a=2", "ann@example.org", "UTC", "→", "Storms"))
"""Names of indices, dossiers and zones, and what placeholders show."""
CITED = re.compile(r"Sports Writer, “Sports title”.*")


def make_app(server: Server, locations: dict[str, str], **settings: str) -> Flask:
    desk = str(server.file.parent / "desk.sqlite")
    to = "mailto:*@example.org https://hooks.example.org/*"
    return server.app(locations, desk=desk, alert_to=to, **settings)


def test_every_text_of_dossiers_and_alerts_is_a_message_or_data(
    server: Server, locations: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = make_app(server, locations)
    ana, ben = Person(app, server, "ana"), Person(app, server, "ben")
    dossier = ana.make("Storms", "v0.s0", "v1.s0")
    assert ana.send(dossier, do="share", name="ben", role="reader").status_code == 200
    assert ana.send("/alerts?q=storm", **ALERT).status_code == 200
    monkeypatch.setitem(LANGUAGES, NAME, make_pseudo_language())
    of_writer = (
        "/dossiers",
        dossier,
        dossier.replace("?", "/history?"),
        "/save?id=v0.s0",
        "/alerts",
        "/alerts?q=storm&source=Sports+Post",
    )
    unmarked = {}
    for person, path in [*((ana, path) for path in of_writer), (ben, "/dossiers"), (ben, dossier)]:
        answer = person.open(path, headers={"Accept-Language": NAME})
        assert answer.status_code == 200, path
        parser = UnmarkedText(FORMATS | DATA)
        parser.feed(answer.get_data(as_text=True))
        if found := [text for text in parser.found if not CITED.fullmatch(text)]:
            unmarked[person is ana, path] = found
    assert unmarked == {}


def test_what_a_form_refuses_is_told_in_the_language_of_the_page(
    server: Server, locations: dict[str, str]
) -> None:
    ana = Person(make_app(server, locations, language="de"), server, "ana")
    dossier = ana.make("Storms", "v0.s0")
    formats = re.findall(r'name="format"[^>]*>([^<]+)</button>', ana.open(dossier).get_data(as_text=True))
    assert formats[:4] == ["Word", "Markdown", "Nur Text", "HTML"], "names stay names"
    pasted = text_of(ana.send(f"{dossier}", do="paste", addresses="nowhere"))
    assert "Zeile 1: 'nowhere' ist keine Adresse, die mit http:// oder https:// beginnt. " in pasted
    zone = {**ALERT, "zone": "Mars"}
    assert "Unbekannte Zeitzone" in text_of(ana.send("/alerts?q=storm", **zone))


def test_what_a_role_and_a_channel_do_not_allow_is_told_in_the_language_of_the_page(
    server: Server, locations: dict[str, str]
) -> None:
    app = make_app(server, locations, language="de")
    ana, ben = Person(app, server, "ana"), Person(app, server, "ben")
    dossier = ana.make("Storms", "v0.s0")
    ana.send(dossier, do="share", name="ben", role="reader")
    refused = text_of(ben.send(dossier, do="rename", name="Floods", description=""))
    assert "Ihre Rolle in diesem Dossier ist Leser. Sie dürfen nicht: es ändern" in refused
    assert "Es gibt kein Dossier 'nowhere', oder" in text_of(ben.open("/dossier?id=nowhere"))
    target = {**ALERT, "to": "nobody"}
    assert "Die Adresse 'mailto:nobody' ist nicht lesbar" in text_of(ana.send("/alerts?q=storm", **target))
