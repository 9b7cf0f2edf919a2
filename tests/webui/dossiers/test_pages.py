"""The pages of dossiers: their forms, what they take in and give out, and whom they show what."""

from __future__ import annotations

import io
import json
import re
from html import unescape
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from flask import Flask
from msgspec.structs import replace

from esr.following.alerts.atom import text_digest
from tests.support.elasticsearch import load
from tests.support.runs import need
from tests.webui.access.conftest import MARK, Server, documents
from tests.webui.dossiers.conftest import HOME, Person, text_of

STORM, GOAL = "The storm took a bridge near Avonton.", "A goalkeeper saw the storm of Avonton."
pytestmark = pytest.mark.slow


@pytest.fixture
def ana(app: Flask, server: Server) -> Person:
    return Person(app, server, "ana")


def items_of(answer: Any) -> list[str]:
    """The ids of the items on a page, in their order."""
    return re.findall(r'data-item="(\w+)"', answer.get_data(as_text=True))


def test_a_server_without_a_desk_has_no_dossiers_and_keeps_clippings_in_the_browser(
    server: Server, locations: dict[str, str]
) -> None:
    person = Person(server.app(locations), server, "ana")
    assert person.open("/dossiers").status_code == 404
    page = person.open("/search?q=storm").get_data(as_text=True)
    assert "dossiers.js" not in page and "/save?" not in page and "clippings.js" in page


def test_somebody_without_a_login_has_no_dossiers(app: Flask, server: Server) -> None:
    server.add("anybody", "--kind", "anybody")
    client = app.test_client()
    assert client.get("/dossiers", base_url=HOME).status_code == 403
    assert "/save?" not in client.get("/search?q=storm", base_url=HOME).get_data(as_text=True)


def test_a_form_without_the_token_of_its_person_changes_nothing(
    app: Flask, server: Server, ana: Person
) -> None:
    path = ana.make("Storms", "v0.s0")
    token = re.findall(r'name="csrf" value="(\w+)"', ana.open(path).get_data(as_text=True))[0]
    ben = Person(app, server, "ben")
    assert ana.send(path, do="share", name="ben", role="writer").status_code == 200
    for person, data in ((ana, {}), (ana, {"csrf": "x"}), (ben, {"csrf": token})):
        for to, form in ((path, {"do": "delete"}), ("/dossiers", {"name": "x"}), ("/save", {"id": "v1.s0"})):
            assert person.open(to, method="POST", data={**form, **data}).status_code == 403
    assert "Storms" in ana.read("/dossiers")


def test_a_dossier_shows_whole_sentences_with_what_people_added(ana: Person) -> None:
    path = ana.make("Storms", "v0.s0", "v1.s1")
    first, second = items_of(ana.open(path))
    ana.send(
        path,
        do="edit",
        item=first,
        base="1",
        note="Use <this>",
        tags="lead, bridge",
        judgement="2",
        marks="bridge",
    )
    answer = ana.open(path)
    text = text_of(answer)
    for part in (
        STORM,
        GOAL,
        "Sports Post",
        "5 March 2017",
        "Sports title",
        "Use <this>",
        "Judgement: 2",
        "2 articles",
    ):
        assert part in text
    assert '<mark class="differ">bridge</mark>' in answer.get_data(as_text=True)
    assert items_of(ana.open(f"{path}&tag=lead")) == [first]
    refused = ana.send(path, do="edit", item=second, base="1", marks="no such words")
    assert refused.status_code == 400 and "does not have the words “no such words”" in text_of(refused)


def test_pasted_addresses_add_sentences_and_documents_or_nothing(ana: Person) -> None:
    path = ana.make("Storms", "v0.s0")
    sentence, document = f"{HOME}/sentence?id=v1&says={text_digest(GOAL)}", f"{HOME}/document?id=v2"
    good = f"{sentence} {document}#s0\n{document}&index=news"
    for bad, message in (
        (f"{HOME}/sentence?id=h9&says=00", "line 3: there is no document 'h9'"),
        (f"{HOME}/sentence?id=v1&says=00", "line 3: the document 'v1' has no such sentence any more"),
        (f"{HOME}/document?id=v1&index=none", "line 3: there is no index 'none'"),
        ("https://elsewhere.example/document?id=v1", "line 3:"),
    ):
        refused = ana.send(path, do="paste", addresses=f"{good}\n{bad}")
        assert refused.status_code == 400 and message in text_of(refused)
        assert len(items_of(ana.open(path))) == 1
    told = text_of(
        ana.send(path, do="paste", addresses=f"{good}\n{HOME}/sentence?id=v0&says={text_digest(STORM)}")
    )
    assert "3 were added. 1 was there already." in told and "The whole article" in told


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("sentence?id=h9&says=00", "Zeile 1: das Dokument 'h9' gibt es nicht"),
        ("sentence?id=v1&says=00", "Zeile 1: das Dokument 'v1' hat keinen solchen Satz mehr"),
    ],
)
def test_what_is_wrong_with_a_line_is_said_in_the_language_of_the_page(
    ana: Person, place: str, message: str
) -> None:
    path = ana.make("Storms", "v0.s0")
    german = {"Accept-Language": "de"}
    refused = ana.send(path, headers=german, do="paste", addresses=f"{HOME}/{place}")
    assert refused.status_code == 400 and message in text_of(refused)


def test_a_table_of_judgements_is_imported_as_one_change_or_not_at_all(ana: Person) -> None:
    path = ana.make("Storms", "v0.s0")

    def send(table: str) -> Any:
        return ana.send(path, do="judgements", table=(io.BytesIO(table.encode()), "judged.csv"))

    refused = send("sentence_id,judgement,note\nv0.s0,1,x\nnone.s0,1,x\nv1.s0,99,x\n")
    assert refused.status_code == 400 and "line 4: the judgement 99 is not from -1 to 10" in text_of(refused)
    refused = send("sentence_id,judgement,note\nv0.s0,1,x\nnone.s0,1,x\n")
    assert refused.status_code == 400 and "line 3: there is no sentence 'none.s0'" in text_of(refused)
    assert "Judgement: " not in ana.read(path)

    address = f"{HOME}/sentence?id=v1&says={text_digest(GOAL)}"
    told = text_of(
        send(f"sentence_id,permalink,judgement,tags\nv0.s0,,1,one; two\n,{address},0,\nv2.s0,,,new\n")
    )
    assert "3 judgements were imported. 2 were added." in told
    exported = ana.open(f"/dossier/file?{path.partition('?')[2]}&format=csv").get_data(as_text=True)
    assert [row.split(",")[-3] for row in exported.splitlines()[1:]] == ["1", "0", ""]
    history = ana.open(path.replace("/dossier?", "/dossier/history?")).get_data(as_text=True)
    assert history.count("imported judgements") == 1
    assert "3 judgements were imported." in text_of(send(exported))  # what esr has written can be imported


def test_a_table_of_judgements_changes_no_item_that_its_sender_may_not_see(
    app: Flask, server: Server, ana: Person
) -> None:
    path = ana.make("Storms", "v0.s0", "h0.s0")
    sports = Person(app, server, "sports", "--index", "news", "--filter", 'source:"Sports Post"')
    ana.send(path, do="share", name="sports", role="writer")

    def send(person: Person, *rows: str) -> Any:
        table = "\n".join(["sentence_id,judgement,note", *rows]).encode()
        return person.send(path, do="judgements", table=(io.BytesIO(table), "judged.csv"))

    refused = send(sports, "v0.s0,1,seen", "h0.s0,2,overwritten")
    assert refused.status_code == 400 and "line 3: there is no sentence 'h0.s0'" in text_of(refused)
    assert "1 judgement was imported." in text_of(send(sports, "v0.s0,1,seen"))
    page = ana.read(path)
    assert "seen" in page and "overwritten" not in page
    assert "2 judgements were imported." in text_of(send(ana, "v0.s0,3,mine", "h0.s0,4,mine"))


@pytest.mark.parametrize("is_held", [True, False])
def test_a_sentence_on_two_lines_of_a_table_is_refused_however_it_is_named(
    ana: Person, is_held: bool
) -> None:
    path = ana.make("Storms", "v1.s1" if is_held else "v0.s0")
    address = f"{HOME}/sentence?id=v1&says={text_digest(GOAL)}"
    for first in ("v1.s1,", f"v1.s1,{address}", f",{address}"):
        for second in ("v1.s1,", f"v1.s1,{address}", f",{address}"):
            table = f"sentence_id,permalink,judgement\nv2.s0,,1\n{first},1\n{second},0\n"
            refused = ana.send(path, do="judgements", table=(io.BytesIO(table.encode()), "judged.csv"))
            assert refused.status_code == 400 and "line 4: the sentence is on line 3 too" in text_of(refused)
    assert "Judgement: " not in ana.read(path)


def test_sentences_of_two_indices_with_one_id_are_judged_each(ana: Person) -> None:
    path = ana.make("Storms", "h0.s0")
    ana.send(path, do="paste", addresses=f"{HOME}/document?id=h0&index=other#s0")
    assert len(items_of(ana.open(path))) == 2
    exported = ana.open(f"/dossier/file?{path.partition('?')[2]}&format=csv").get_data(as_text=True)
    first, *_ = lines = exported.splitlines()
    judged = [line.replace(",,,,,https", f",,,,{n},https") for n, line in enumerate(lines)]

    def send(*rows: str) -> Any:
        table = "\n".join(rows).encode()
        return ana.send(path, do="judgements", table=(io.BytesIO(table), "judged.csv"))

    def judgements() -> list[str]:
        return re.findall(r"Judgement: (-?\d)", ana.read(path))

    assert "2 judgements were imported." in text_of(send(first, *judged[1:]))
    assert judgements() == ["1", "2"]
    assert "2 judgements were imported." in text_of(send(first, *judged[:0:-1]))
    assert judgements() == ["1", "2"]
    address = re.findall(r"https://\S+index=other", exported)[0]
    send("permalink,judgement", f"{address},5")
    assert judgements() == ["1", "5"]
    refused = send("sentence_id,judgement", "h0.s0,7")
    assert refused.status_code == 400 and "line 2: the dossier has a sentence of this id" in text_of(refused)
    other = ana.make("Storms elsewhere", "h0.s0")
    assert "1 was added." in text_of(
        ana.send(other, do="judgements", table=(io.BytesIO("\n".join((first, judged[2])).encode()), "j.csv"))
    )


def test_items_are_ordered_by_hand_by_date_and_by_source(ana: Person) -> None:
    path = ana.make("Storms", "v0.s0", "v1.s1", "h0.s0")
    first, second, third = items_of(ana.open(path))
    ana.send(path, do="move", item=first, move="down")
    assert items_of(ana.open(path)) == [second, first, third]
    ana.send(path, do="move", item=third, move="after", after="")
    assert items_of(ana.open(path)) == [third, second, first]
    assert items_of(ana.open(f"{path}&order=source")) == [second, first, third]
    ana.send(f"{path}&order=source", do="arrange", order="source")
    assert items_of(ana.open(path)) == [second, first, third]
    assert ana.open(f"{path}&order=length").status_code == 400


def test_what_has_changed_since_is_shown_with_both_wordings(
    server: Server, tmp_path: Path, locations: dict[str, str]
) -> None:
    where = str(tmp_path / "changing")
    load(where, documents())
    desk = str(tmp_path / "desk.sqlite")
    ana = Person(server.app({"news": where}, desk=desk), server, "ana")
    path = ana.make("Storms", "v0.s0", "v1.s1", "v2.s0")
    assert "Changed since" not in ana.read(path)

    corrected = [each for each in documents() if each.id != "v2"]
    for n, document in enumerate(corrected):
        if document.id == "v0":
            text = STORM.replace("a bridge", "two bridges")
            sentences = (replace(document.sentences[0], text=text), *document.sentences[1:])
            corrected[n] = replace(document, sentences=sentences)
    load(where, corrected, if_exists="replace")
    ana = Person(server.app({"news": where}, desk=desk), server, "ana", "--replace")
    page = ana.open(path).get_data(as_text=True)
    assert "<del>a bridge</del>" in page and "<ins>two bridges</ins>" in page
    assert page.count("Changed since") == 1 and page.count("No longer in the collection") == 1
    assert STORM in text_of(ana.open(f"/dossier/file?{path.partition('?')[2]}&format=html"))


def test_who_may_not_see_a_document_sees_nothing_of_it_in_pages_and_files(
    app: Flask, server: Server, ana: Person
) -> None:
    path = ana.make("Storms", "v0.s0", "h0.s0")
    second = items_of(ana.open(path))[1]
    ana.send(path, do="edit", item=second, tags=f"{MARK}tag", note=f"{MARK} note")
    ana.send(path, do="share", name="eve", role="writer")
    eve = Person(app, server, "eve", "--filter", 'source:"Sports Post"', "--index", "news")
    id = path.partition("?")[2]
    for address in (path, f"{path}&tag={MARK}tag", f"{path}&order=source", f"/dossier/history?{id}"):
        page = eve.open(address)
        assert page.status_code == 200
        assert (
            MARK
            not in page.get_data(as_text=True)
            .replace(f"tag={MARK}tag", "")
            .replace(f"tag%3D{MARK}tag", "")
            .replace(f'value="{MARK}tag"', "")
            .lower()
        )
    assert "1 item is of a document that you may not see" in eve.read(path)
    for format in ("word", "markdown", "text", "html", "csv", "bibtex", "ris", "csl", "clipboard"):
        answer = eve.open(f"/dossier/file?{id}&format={format}")
        assert answer.status_code == 200 and MARK not in answer.get_data().decode("latin-1").lower(), format
    assert eve.send(path, do="edit", item=second, note="mine").status_code == 403
    assert eve.open("/save?id=h0.s0").status_code == 404


def test_the_roles_of_people_decide_which_forms_a_page_has_and_takes(
    app: Flask, server: Server, ana: Person
) -> None:
    path = ana.make("Storms", "v0.s0")
    reader, stranger = (Person(app, server, name) for name in ("reader", "stranger"))
    ana.send(path, do="share", name="reader", role="reader")
    assert 'do" value="edit' not in reader.open(path).get_data(as_text=True)
    assert reader.send(path, do="remove", item=items_of(ana.open(path))[0]).status_code == 403
    assert stranger.open(path).status_code == 404 and "Storms" not in stranger.read("/dossiers")
    ana.send(path, do="share", name="reader", role="none")
    assert reader.open(path).status_code == 404


def test_a_link_shows_the_dossier_until_it_is_ended(app: Flask, server: Server, ana: Person) -> None:
    path = ana.make("Storms", "v0.s0")
    made = ana.send(path, do="link", days="7")
    (address,) = re.findall(
        r"<code data-copy>https://localhost(/shared\?token=[^<]+)</code>", made.get_data(as_text=True)
    )
    reader = Person(app, server, "reader")
    page = reader.open(address).get_data(as_text=True)
    assert STORM in page and 'method="post"' not in page.partition("<main")[2].partition("</main")[0]
    assert reader.open(f"{address.replace('/shared', '/dossier/file')}&format=text").status_code == 200
    (link,) = re.findall(r'name="link" value="(\w+)"', ana.open(path).get_data(as_text=True))
    ana.send(path, do="revoke", link=link)
    assert reader.open(address).status_code == 404


def test_a_deleted_dossier_and_an_earlier_state_can_be_restored(ana: Person) -> None:
    path = ana.make("Storms", "v0.s0", "v1.s1")
    before = items_of(ana.open(path))
    ana.send(path, do="remove", item=before[0])
    earlier = ana.open(f"{path}&version=1")
    assert items_of(earlier) == before
    (by_date,) = re.findall(r'href="([^"]*order=date[^"]*)"', unescape(earlier.get_data(as_text=True)))
    assert items_of(ana.open(by_date)) == before, "of the same state"
    assert f'href="{path}">Show it as it is now' in unescape(earlier.get_data(as_text=True))
    ana.send(path, do="restore", version="1")
    assert items_of(ana.open(path)) == before
    assert "deleted" in text_of(ana.send(path, do="delete"))
    assert ana.open(path).status_code == 404
    form = re.search(
        r'name="id" value="(\w+)"><input type="hidden" name="version" value="(\d+)"',
        ana.open("/dossiers").get_data(as_text=True),
    )
    assert form
    assert items_of(ana.send("/dossiers", do="restore", id=form[1], version=form[2])) == before


@pytest.mark.parametrize("version", ["0", "x", "-1", "1e3", "9" * 20, "9" * 5_000])
def test_a_state_that_never_was_is_refused(ana: Person, version: str) -> None:
    path = ana.make("Storms", "v0.s0")
    id, (item,) = path.partition("id=")[2], items_of(ana.open(path))
    for answer in (
        ana.open(f"{path}&version={version}"),
        ana.send(path, do="restore", version=version),
        ana.send("/dossiers", do="restore", id=id, version=version),
    ):
        assert 400 <= answer.status_code < 500
    assert ana.send(path, do="edit", item=item, base=version, note="n").status_code < 500
    assert items_of(ana.open(path)) == [item]


@pytest.mark.parametrize("format", ["word", "xlsx", "markdown", "csv", "bibtex"])
def test_a_dossier_is_taken_along_as_a_file_with_its_name(ana: Person, format: str) -> None:
    path = ana.make("Storms: “Avonton” & more", "v0.s0")
    answer = ana.open(f"/dossier/file?{path.partition('?')[2]}&format={format}")
    assert answer.headers["Content-Disposition"].startswith("attachment; filename=Storms-Avonton-more.")
    assert answer.get_data()
    assert ana.open(f"/dossier/file?{path.partition('?')[2]}&format=pdf").status_code == 400


def test_a_script_gets_the_outcome_of_saving_as_json(ana: Person) -> None:
    path = ana.make("Storms", "v0.s0")
    id = path.partition("id=")[2]
    page = ana.open("/save?id=v1.s0").get_data(as_text=True)
    token = re.findall(r'name="csrf" value="(\w+)"', page)[0]
    assert f'value="{id}" checked' in page  # the dossier that was used last
    for added in (1, 0):
        answer = ana.open(
            "/save",
            method="POST",
            data={"csrf": token, "id": "v1.s0", "dossier": id},
            headers={"Accept": "application/json"},
        )
        assert (answer.get_json()["name"], answer.get_json()["added"]) == ("Storms", added)
    refused = ana.open(
        "/save", method="POST", data={"csrf": token, "dossier": id}, headers={"Accept": "application/json"}
    )
    assert (
        refused.status_code == 400 and "nothing was chosen" in refused.get_json()["error"]["message"].lower()
    )
    too_long = {"csrf": token, "id": "v1.s0", "note": "x" * 20_001, "name": "Rivers"}
    assert ana.open("/save", method="POST", data=too_long).status_code == 400
    assert "Rivers" not in ana.read("/dossiers"), "a dossier without what it was made for"
    endless = {"csrf": token, "do": "link", "days": "1" + "0" * 400}
    assert ana.open(path, method="POST", data=endless).status_code == 400
    clippings = json.dumps([{"sentence_id": "x.s0", "text": "Kept."}])
    moved = ana.open(
        "/save/clippings",
        method="POST",
        data={"csrf": token, "clippings": clippings, "dossier": id},
        headers={"Accept": "application/json"},
    )
    assert moved.get_json()["added"] == 1
    assert "Kept." in ana.read(path)


def test_word_has_footnotes_or_endnotes_as_the_page_offers(ana: Person) -> None:
    need("docx")
    path = ana.make("Storms", "v0.s0")
    page = ana.open(path).get_data(as_text=True)
    offered = re.findall(r'<option value="(\w+note)">', page)
    assert offered == ["footnote", "endnote"]
    for kind in offered:
        sent = ana.open(f"/dossier/file?{path.partition('?')[2]}&format=word&citations={kind}")
        with ZipFile(io.BytesIO(sent.get_data())) as file:
            assert [other for other in offered if f"word/{other}s.xml" in file.namelist()] == [kind]
    refused = ana.open(f"/dossier/file?{path.partition('?')[2]}&format=word&citations=sidenote")
    assert refused.status_code == 400


def test_a_file_has_neighbours_if_asked_for_and_only_of_its_own_document(ana: Person) -> None:
    path = ana.make("Storms", "v0.s0", "v1.s1")
    plain, asked = (
        ana.open(f"/dossier/file?{path.partition('?')[2]}&format=text&neighbours={asked}").get_data(
            as_text=True
        )
        for asked in ("no", "yes")
    )
    assert "[" not in plain
    assert f"1. {STORM} [{GOAL}]\n" in asked and f"2. [{STORM}] {GOAL}\n" in asked
    assert '<select id="neighbours"' in ana.open(path).get_data(as_text=True)


def test_sharing_says_if_nobody_of_that_name_is_known(app: Flask, server: Server) -> None:
    ana = Person(app, server, "ana", "--group", "desk")
    path = ana.make("Storms", "v0.s0")

    def share(**sent: str) -> str:
        return text_of(ana.send(path, do="share", **{"role": "reader", **sent}))

    unknown = "Nobody of the name ban is known to this server."
    assert f"Saved. {unknown}" in share(name="ban")
    assert f"Saved. {unknown}" in share(name="ban", group="yes")
    assert unknown in share(name="ban", role="owner") and "ana" in ana.read(path)
    for known in ({"name": "desk", "group": "yes"}, {"name": "*"}, {"name": "ban", "role": "none"}):
        assert "is known" not in share(**known)
    server.add("*", "--kind", "elsewhere")
    assert "Saved. Accounts are not listed here: ban must be spelled" in share(name="ban")
    assert "ban" in ana.read(path)
