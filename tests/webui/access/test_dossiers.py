"""Dossiers behind logins: who may do what, and what those see who may not see a document."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask

from tests.support.elasticsearch import load
from tests.webui.access.conftest import MARK, Caller, Server, documents, text_of
from webui.access.guard import parse_groups

READ, CHANGE, OWN = (
    {"owner", "writer", "reader", "grouped"},
    {"owner", "writer", "grouped"},
    {"owner"},
)
TABLE: dict[str, tuple[set[str], dict[str, Any]]] = {
    "one": (READ, {}),
    "history": (READ, {}),
    "links": (OWN, {}),
    "add": (CHANGE, {"sentences": ["v1.s0"]}),
    "import": (
        CHANGE,
        {"clippings": [{"sentence_id": "v1.s1", "document_id": "v1", "text": "A goalkeeper."}]},
    ),
    "edit": (CHANGE, {"item": "ITEM", "note": "a note"}),
    "move": (CHANGE, {"items": ["ITEM"]}),
    "arrange": (CHANGE, {"items": ["ITEM"]}),
    "remove": (CHANGE, {"items": ["ITEM"]}),
    "rename": (CHANGE, {"name": "Other"}),
    "restore": (CHANGE, {"version": 1}),
    "share": (OWN, {"name": "eve", "role": "reader"}),
    "give": (OWN, {"name": "writer"}),
    "links POST": (OWN, {}),
    "links/revoke": (OWN, {"link": "LINK"}),
    "delete": (OWN, {}),
}
"""By operation: who may do it, and the rest of its body."""


@pytest.fixture
def app(server: Server, locations: dict[str, str]) -> Flask:
    server.add("anybody", "--kind", "anybody")
    return server.app(locations, desk=str(server.file.parent / "desk.sqlite"))


def callers(server: Server, app: Flask) -> dict[str, Caller]:
    """Callers by name: those with keys, and one without."""
    client = app.test_client()
    keys = {name: server.add(name) for name in ("owner", "writer", "reader", "stranger")}
    keys["grouped"] = server.add("grouped", "--group", "politics")
    return {**{name: Caller(client, key) for name, key in keys.items()}, "anybody": Caller(client, None)}


def post(caller: Caller, path: str, **body: Any) -> Any:
    return caller(
        f"/api/v1/dossiers{path}", "POST", body=body, **({"index": "news"} if path == "/add" else {})
    )


def make(caller: Caller, *sentences: str) -> tuple[str, list[str]]:
    """A dossier with sentences: its id, and those of its items."""
    id = post(caller, "", name="Storms").get_json()["id"]
    added = post(caller, "/add", id=id, sentences=list(sentences))
    assert added.status_code == 200, added.get_json()
    return id, [item["id"] for item in added.get_json()["items"]]


@pytest.mark.slow
def test_each_operation_is_for_the_roles_that_the_table_names(server: Server, app: Flask) -> None:
    people = callers(server, app)
    done = 0
    for operation, (allowed, rest) in TABLE.items():
        for name, caller in people.items():
            id, (item,) = make(people["owner"], "v0.s0")
            for other, role in (("writer", "writer"), ("reader", "reader")):
                post(people["owner"], "/share", id=id, name=other, role=role)
            post(people["owner"], "/share", id=id, name="politics", role="writer", group=True)
            link = post(people["owner"], "/links", id=id).get_json()["id"]
            names = {"ITEM": item, "LINK": link}
            body = {
                key: [names.get(v, v) if isinstance(v, str) else v for v in value]
                if isinstance(value, list)
                else names.get(value, value)
                for key, value in rest.items()
            }
            before = people["owner"](f"/api/v1/dossiers/one?id={id}").get_json()
            if operation in ("one", "history", "links"):
                answer = caller(f"/api/v1/dossiers/{operation}", id=id)
            else:
                answer = post(caller, f"/{operation.removesuffix(' POST')}", id=id, **body)
            if name in allowed:
                assert answer.status_code == 200, (operation, name, answer.get_json())
                done += 1
                continue
            expected = 403 if name in READ or name == "anybody" else 404
            assert answer.status_code == expected, (operation, name, answer.get_json())
            assert "Storms" not in text_of(answer)
            assert people["owner"](f"/api/v1/dossiers/one?id={id}").get_json() == before
    assert done == sum(len(allowed) for allowed, _ in TABLE.values())


def test_sharing_says_if_nobody_of_that_name_is_known(server: Server, app: Flask) -> None:
    people = callers(server, app)
    owner, (id, _) = people["owner"], make(people["owner"], "v0.s0")

    def is_known(name: str, *, group: bool = False) -> bool | None:
        shared = post(owner, "/share", id=id, name=name, role="writer", group=group)
        assert shared.status_code == 200, shared.get_json()
        answer: bool | None = shared.get_json()["name_known"]
        return answer

    assert is_known("writer") and is_known("politics", group=True) and is_known("*", group=True)
    assert is_known("reeder") is is_known("politic", group=True) is False
    refused = post(owner, "/give", id=id, name="reeder")
    assert (refused.status_code, refused.get_json()["error"]["field"]) == (400, "name")
    assert "reeder" in refused.get_json()["error"]["message"]
    for name in ("reeder", "reader"):
        assert post(people["writer"], "/give", id=id, name=name).status_code == 403, "it tells nobody else"
    server.add("*", "--kind", "elsewhere")
    assert is_known("reeder") is None
    assert post(owner, "/give", id=id, name="reeder").status_code == 200


def test_who_may_not_see_a_document_sees_nothing_of_its_items(server: Server, either: dict[str, str]) -> None:
    app = server.app(either, desk=str(server.file.parent / "desk.sqlite"))
    people = callers(server, app)
    client = app.test_client()
    sports = Caller(client, server.add("sports", "--index", "news", "--filter", 'source:"Sports Post"'))
    id, items = make(people["owner"], "v0.s0", "h0.s0")
    post(people["owner"], "/edit", id=id, item=items[1], note=f"{MARK} note", tags=[f"{MARK}tag"])
    post(people["owner"], "/share", id=id, name="sports", role="writer")

    answer = sports("/api/v1/dossiers/one", id=id)
    seen, withheld = answer.get_json()["items"]
    assert (seen["status"], seen["item"]["text"]) == ("same", "The storm took a bridge near Avonton.")
    assert (withheld["status"], withheld["item"]) == ("withheld", None)
    assert (seen["before"], seen["after"]) == ("", "A goalkeeper saw the storm of Avonton.")
    assert withheld["before"] == withheld["after"] == ""
    for path, more in (("/one", {}), ("/one", {"version": 3}), ("/history", {})):
        answer = sports(f"/api/v1/dossiers{path}", id=id, **more)
        assert answer.status_code == 200 and MARK not in text_of(answer), path
    assert post(sports, "/edit", id=id, item=items[1], note="mine").status_code == 403
    assert post(sports, "/add", id=id, sentences=["h1.s0"]).status_code == 404
    assert "zanzu" in text_of(people["owner"]("/api/v1/dossiers/one", id=id))


def test_items_of_an_index_that_the_reader_may_not_search_are_withheld(server: Server, app: Flask) -> None:
    people = callers(server, app)
    news = Caller(app.test_client(), server.add("news-only", "--index", "news"))
    id, _ = make(people["owner"], "v0.s0")
    added = people["owner"](
        "/api/v1/dossiers/add", "POST", body={"id": id, "sentences": ["h0.s0"]}, index="other"
    )
    assert added.get_json()["items"][0]["index"] == "other"
    post(people["owner"], "/share", id=id, name="news-only", role="reader")
    answer = news("/api/v1/dossiers/one", id=id)
    assert [item["status"] for item in answer.get_json()["items"]] == ["same", "withheld"]
    assert MARK not in text_of(answer)


def test_a_document_that_is_gone_is_withheld_from_those_who_see_a_part(
    server: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    where = str(tmp_path_factory.mktemp("index") / "news")
    load(where, documents())
    app = server.app({"news": where}, desk=str(server.file.parent / "desk.sqlite"))
    whole, part = (
        Caller(app.test_client(), server.add(name, *more))
        for name, *more in (("whole",), ("part", "--filter", 'source:"Sports Post"'))
    )
    id, _ = make(whole, "v0.s0", "v1.s0")
    post(whole, "/share", id=id, name="part", role="reader")
    rest = [document for document in documents() if document.id != "v1"]
    load(where, rest, if_exists="replace")
    statuses = [
        [reading["status"] for reading in caller("/api/v1/dossiers/one", id=id).get_json()["items"]]
        for caller in (whole, part)
    ]
    assert statuses == [["same", "removed"], ["same", "withheld"]]


def test_a_number_without_a_fraction_is_a_whole_number_however_it_is_written(
    server: Server, app: Flask
) -> None:
    owner = callers(server, app)["owner"]
    id, (item,) = make(owner, "v0.s0")
    (written,) = post(
        owner, "/edit", id=id, item=item, judgement=4.0, highlights=[{"start": 0.0, "end": 2.0}]
    ).get_json()["items"]
    assert (written["judgement"], written["highlights"][0]["end"]) == (4, 2)
    assert owner("/api/v1/dossiers/one", id=id).get_json()["items"][0]["item"] == written
    assert (
        post(owner, "/edit", id=id, item=item, judgement=5, base=float(written["version"])).status_code == 200
    )
    assert post(owner, "/edit", id=id, item=item, judgement=4.5).status_code == 400


def test_bodies_that_no_database_stores_and_a_desk_that_is_broken_are_told(
    server: Server, app: Flask, locations: dict[str, str]
) -> None:
    owner = callers(server, app)["owner"]
    id, (item,) = make(owner, "v0.s0")
    for bad in ("\ud83d", "a\0b"):
        for body in (
            {"id": bad, "item": item},
            {"id": id, "item": bad},
            {"id": id, "item": item, "tags": [bad]},
        ):
            assert post(owner, "/edit", **body).status_code == 400
    broken = server.file.parent / "broken"
    broken.write_bytes(b"x" * 5_000)
    reader = Caller(server.app(locations, desk=str(broken)).test_client(), server.add("late"))
    answer = reader("/api/v1/dossiers")
    assert (answer.status_code, answer.get_json()["error"]["code"]) == (503, "desk_unusable")
    assert str(server.file.parent) not in text_of(answer)


def test_a_link_shows_what_its_reader_may_search(server: Server, app: Flask) -> None:
    people = callers(server, app)
    sports = Caller(app.test_client(), server.add("sports", "--filter", 'source:"Sports Post"'))
    id, _ = make(people["owner"], "v0.s0", "h0.s0")
    token = post(people["owner"], "/links", id=id, days=1).get_json()["token"]
    shown = people["anybody"]("/api/v1/dossiers/shared", token=token).get_json()
    assert [item["status"] for item in shown["items"]] == ["same", "same"]
    assert (shown["role"], shown["members"]) == ("link", [])
    assert MARK not in text_of(sports("/api/v1/dossiers/shared", token=token))
    assert people["anybody"]("/api/v1/dossiers/shared", token=token[:-1]).status_code == 404


def test_a_link_needs_a_login_unless_it_shows_what_its_maker_may_search(
    server: Server, locations: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    desk = str(server.file.parent / "desk.sqlite")
    strict = server.app(locations, desk=desk)
    open_ = server.app(locations, desk=desk, desk_links="maker", audit_queries=1)
    key = server.add("maker", "--filter", 'source:"Sports Post"')
    maker, maker_at_open = (Caller(app.test_client(), key) for app in (strict, open_))
    whole = Caller(strict.test_client(), server.add("whole"))
    id, _ = make(whole, "v0.s0", "h0.s0")
    post(whole, "/give", id=id, name="maker")
    token = post(maker, "/links", id=id).get_json()["token"]

    assert Caller(strict.test_client(), None)("/api/v1/dossiers/shared", token=token).status_code == 401
    stranger = Caller(open_.test_client(), None)
    shown = stranger("/api/v1/dossiers/shared", token=token)
    assert [item["status"] for item in shown.get_json()["items"]] == ["same", "withheld"]
    assert MARK not in text_of(shown)
    for path, arguments in (("/shared", {}), ("/dossier/file", {"format": "text"})):
        assert Caller(strict.test_client(), None)(path, token=token, **arguments).status_code == 401
        caplog.clear()
        page = stranger(path, token=token, **arguments)
        assert page.status_code == 200 and MARK not in text_of(page)
        logged = [getattr(record, "json_fields", {}) for record in caplog.records]
        assert not any(token in str(fields) for fields in logged), "who reads the log could read the dossier"
    assert stranger("/dossier/file", id=id, format="text").status_code == 401
    assert stranger("/api/v1/dossiers").status_code == 401
    assert maker_at_open("/api/v1/search", q="storm").status_code == 200
    server.expire("maker", "2020-01-01")
    assert stranger("/api/v1/dossiers/shared", token=token).status_code == 403


@pytest.mark.parametrize(
    ("claim", "groups"),
    [
        (["politics", "sports"], {"politics", "sports"}),
        ("politics", {"politics"}),
        (["*", "", 7, " a "], {"a"}),
        (None, set()),
        ([str(n) * 1_000 for n in range(3)], {"0" * 1_000}),
    ],
)
def test_groups_are_read_from_what_a_provider_says(claim: Any, groups: set[str]) -> None:
    assert parse_groups(claim) == groups
