"""`esr dossier …` and `esr.open_dossiers`: dossiers of a desk without a server."""

from __future__ import annotations

import json
import os
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

import esr
from esr.cli import main
from esr.dossiers.records import Content, NoDossier, NotPermitted
from esr.errors import UsageError
from tests.support.elasticsearch import document, load

NEWS = [
    document("a", "The river rose by two metres.", "Nobody was hurt.", title="Floods", date="2017-03-05"),
    document("b", "A storm took the bridge.", title="Storm", source="Post"),
]


@pytest.fixture
def where(tmp_path: Path) -> str:
    load(str(tmp_path / "index"), NEWS)
    return str(tmp_path / "index")


@pytest.fixture
def desk(tmp_path: Path) -> str:
    return str(tmp_path / "desk.sqlite")


@pytest.fixture
def clippings(tmp_path: Path) -> Path:
    """A file with two clippings that have no notes and no tags."""
    saved = tmp_path / "clippings.json"
    texts = ("The river rose.", "Nobody was hurt.")
    saved.write_text(
        json.dumps(
            [{"sentence_id": f"a.s{n}", "document_id": "a", "text": text} for n, text in enumerate(texts)]
        )
    )
    return saved


def run(desk: str, *arguments: str, fails: bool = False) -> str:
    """What `esr dossier` prints, or the error message."""
    done = CliRunner().invoke(main, ["dossier", *arguments, "--desk", desk])
    assert (done.exit_code != 0) == fails, done.output
    return done.output


@pytest.mark.slow
def test_a_dossier_is_filled_and_shown_beside_a_corrected_index(where: str, desk: str) -> None:
    run(desk, "create", "Floods", "--description", "for Monday")
    added = run(desk, "add", "Floods", "a.s0", "a.s1", "--document", "b", "--index", where, "--tag", "x")
    assert "added 3 items" in added
    run(desk, "note", "Floods", "2", "Ask them", "--judgement", "3")
    run(desk, "move", "Floods", "3")
    run(desk, "rename", "Floods", "River")
    corrected = [document("a", "The river rose by three metres.", title="Floods"), document("c", "Else.")]
    load(where, corrected, if_exists="replace")
    lines = run(desk, "show", "River", "--index", where).splitlines()
    assert lines[1:3] == ["for Monday", lines[2]] and lines[0].startswith("River")
    assert "changed since: The river rose by three metres." in run(desk, "show", "River", "--index", where)
    shown = json.loads(run(desk, "show", "River", "--index", where, "--json"))
    assert [item["status"] for item in shown["items"]] == ["removed", "changed", "removed"]
    assert shown["items"][2]["item"]["note"] == "Ask them"
    before = json.loads(run(desk, "show", "River", "--version", "2", "--json"))
    assert [each["item"].get("note", "") for each in before["items"]] == ["", "", ""]
    assert "move 1 item" in run(desk, "history", "River")
    run(desk, "restore", "River", "2")
    assert "Floods" in run(desk, "list")


def test_with_an_account_only_its_rights_count(where: str, desk: str) -> None:
    run(desk, "create", "Floods", "--as", "ann")
    run(desk, "share", "Floods", "bob", "--role", "reader", "--as", "ann")
    assert "Floods" in run(desk, "show", "Floods", "--as", "bob")
    refused = run(desk, "add", "Floods", "a.s0", "--index", where, "--as", "bob", fails=True)
    assert refused == "Error: you are a reader of this dossier, and may not change it\n"
    assert "there is no dossier" in run(desk, "show", "Floods", "--as", "eve", fails=True)
    run(desk, "give", "Floods", "eve")  # the operator may
    assert "eve" in run(desk, "list", "--as", "eve")


def test_an_export_has_neighbours_of_the_index_that_is_named(where: str, desk: str, tmp_path: Path) -> None:
    run(desk, "create", "Floods")
    run(desk, "add", "Floods", "a.s0", "b.s0", "--index", where)
    out = tmp_path / "floods.txt"
    run(desk, "export", "Floods", str(out))
    assert "Nobody was hurt" not in out.read_text("utf-8")
    run(desk, "export", "Floods", str(out), "--neighbours", where)
    text = out.read_text("utf-8")
    assert "1. The river rose by two metres. [Nobody was hurt.]\n" in text
    assert "2. A storm took the bridge.\n" in text, "an end of its document"


def test_sharing_says_if_nobody_of_that_name_is_known(desk: str, tmp_path: Path) -> None:
    access = tmp_path / "access.json"

    def add(*arguments: str) -> None:
        assert CliRunner().invoke(main, ["keys", "add", *arguments, "--file", str(access)]).exit_code == 0

    add("bob", "--group", "politics")
    run(desk, "create", "Floods")
    known, group = ["--access", str(access), "--role", "reader"], "--group"
    unknown = "nobody of the name ban is known"
    for member in (["ban"], ["ban", group]):
        told = run(desk, "share", "Floods", *member, *known)
        assert "ban: reader; version" in told and unknown in told
    for member in (["bob"], ["politics", group], ["*", group]):
        assert "note" not in run(desk, "share", "Floods", *member, *known)
    assert "note" not in run(desk, "share", "Floods", "ban", "--access", str(access), "--role", "none")
    assert "note" not in run(desk, "share", "Floods", "ban", "--role", "reader"), "no server is named"
    assert unknown in run(desk, "give", "Floods", "ban", "--access", str(access), fails=True)
    add("*", "--kind", "elsewhere")
    assert "ban must be spelled as at the login" in run(desk, "share", "Floods", "ban", *known)
    run(desk, "give", "Floods", "ban", "--access", str(access))


def test_messages_say_what_to_do(where: str, desk: str, tmp_path: Path) -> None:
    run(desk, "create", "Twice")
    run(desk, "create", "Twice")
    assert "2 dossiers have the name 'Twice': name one of" in run(desk, "show", "Twice", fails=True)
    run(desk, "create", "Once")
    assert "give --index" in run(desk, "add", "Once", "a.s0", fails=True)
    assert "a.s9" in run(desk, "add", "Once", "a.s9", "--index", where, fails=True)
    assert "no item '4': it has 0 items" in run(desk, "remove", "Once", "4", fails=True)
    assert "there is no folder" in run(str(tmp_path / "no" / "desk"), "create", "X", fails=True)
    done = CliRunner().invoke(main, ["dossier", "list"], env={"ESR_DESK": ""})
    assert "no desk is named: set ESR_DESK" in done.output


def test_only_commands_that_fill_a_desk_make_one(where: str, desk: str, tmp_path: Path) -> None:
    for command in (["list"], ["show", "Floods"], ["add", "Floods", "a.s0", "--index", where]):
        assert "there is no desk at" in run(desk, *command, fails=True)
    others = (
        ["alerts", "list"],
        ["alerts", "run", "--once"],
        ["backup", str(tmp_path / "b"), "--index", where],
    )
    for command in others:
        done = CliRunner().invoke(main, [*command, "--desk", desk])
        assert done.exit_code and "there is no desk at" in done.output
    assert not Path(desk).exists()
    run(desk, "create", "Floods")
    copy = str(tmp_path / "copy.sqlite")
    assert CliRunner().invoke(main, ["dossier", "backup", copy, "--desk", desk]).exit_code == 0
    new = str(tmp_path / "new.sqlite")
    run(new, "restore-backup", copy, "--yes")
    assert "Floods" in run(new, "list")


def test_what_a_browser_saved_is_added(desk: str, tmp_path: Path) -> None:
    saved = tmp_path / "esr-saved.json"
    clipping = {"sentence_id": "a.s0", "document_id": "a", "text": "The river.", "note": "n", "tags": ["t"]}
    saved.write_text(json.dumps({"searches": [], "clippings": [{**clipping, "heading": "more"}]}))
    run(desk, "create", "Floods")
    assert "added 1 item" in run(desk, "add", "Floods", "--clippings", str(saved))
    assert "note: n" in run(desk, "show", "Floods")
    saved.write_text("{}")
    assert "these are no clippings" in run(desk, "add", "Floods", "--clippings", str(saved), fails=True)


def test_a_dossier_is_written_to_a_file(where: str, desk: str, tmp_path: Path) -> None:
    run(desk, "create", "Floods")
    run(desk, "add", "Floods", "a.s0", "--index", where, "--note", "ask")
    for name, says in (("f.md", "The river rose"), ("f.ris", "Floods"), ("f.csv", "ask")):
        run(desk, "export", "Floods", str(tmp_path / name))
        assert says in (tmp_path / name).read_text("utf-8"), name
    run(desk, "export", "Floods", str(tmp_path / "plain"), "--format", "text", "--without-notes")
    assert "ask" not in (tmp_path / "plain").read_text("utf-8")
    assert "no format has the ending 'xyz'" in run(desk, "export", "Floods", "f.xyz", fails=True)


def test_python_acts_as_an_account(where: str, desk: str) -> None:
    with esr.open_dossiers(desk, account="ann") as ann, esr.open(where) as index:
        dossier = ann.create("Floods")
        ann.add(dossier.id, [hit.id for hit in index.search("river", 1)], index=index, tags=["x"])
        ann.add("Floods", contents=[Content(document_id="a", sentence_id="a.s9", text="Not there.")])
        ann.edit("Floods", ann.read("Floods").items[0].id, note="why")
        ann.share("Floods", "politics", "reader", group=True)
        assert [reading.status for reading in ann.compare("Floods", index)] == ["same", "removed"]
        token = ann.link("Floods", days=1).token
        assert token and [link.is_revoked for link in ann.links("Floods")] == [False]
    with esr.open_dossiers(desk, account="bob", groups=["politics"]) as bob:
        assert [(each.name, each.role, each.items) for each in bob] == [("Floods", "reader", 2)]
        with pytest.raises(NotPermitted):
            bob.delete("Floods")
        with pytest.raises(UsageError, match="need the index"):
            bob.add("Floods", ["a.s0"])
    with esr.open_dossiers(desk, account="ann") as ann:
        ann.delete("Floods")
        assert ann.summaries() == [] and [each.name for each in ann.summaries(deleted=True)] == ["Floods"]
        with pytest.raises(NoDossier):
            ann.read("Floods")
        assert ann.history("Floods")[0].action == "delete"
        ann.restore("Floods", 3)
        ann.delete("Floods")
        ann.delete("Floods", for_good=True)
        assert ann.summaries(deleted=True) == []
    with esr.open_dossiers(desk, account="eve") as eve, pytest.raises(NoDossier):
        eve.read("Floods")


def test_the_name_of_a_deleted_dossier_is_free_for_another(desk: str) -> None:
    with esr.open_dossiers(desk, account="ann") as ann:
        former = ann.create("Floods")
        ann.delete("Floods")
        new = ann.create("Floods")
        assert ann.read("Floods").id == ann.find("Floods") == new.id
        with pytest.raises(UsageError, match="2 dossiers have the name 'Floods': name one of ") as caught:
            ann.history("Floods")
        assert former.id in str(caught.value) and new.id in str(caught.value)


@pytest.mark.parametrize("error", [OSError, KeyError])
def test_somebody_without_a_name_on_this_computer_is_called_by_number(
    desk: str, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fail() -> str:
        raise error

    monkeypatch.setattr("getpass.getuser", fail)
    with esr.open_dossiers(desk) as dossiers:
        assert dossiers.create("Floods").owner == f"user {os.getuid()}"


def test_a_backup_has_the_desk_and_restores_it_under_an_open_one(
    where: str, desk: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(desk, "create", "Floods", "--as", "ann")
    target, synced, sync = str(tmp_path / "backup"), [], os.fsync
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda file: (synced.append(os.fstat(file).st_ino), sync(file)))
        run(desk, "backup", str(tmp_path / "desk-alone"))
    assert synced[-1] == tmp_path.stat().st_ino, "its name is durable too"
    backup = CliRunner().invoke(main, ["backup", target, "--index", where, "--desk", desk])
    assert backup.exit_code == 0 and "backed the desk" in backup.output, backup.output
    with esr.open_dossiers(desk, account="ann") as open_:
        open_.create("Later")
        restore = ["restore", target, "--index", f"{where}2", "--desk", desk, "--yes"]
        done = CliRunner().invoke(main, restore)
        assert done.exit_code == 0, done.output
        assert [summary.name for summary in open_] == ["Floods"]
        open_.create("After")
        assert {summary.name for summary in open_} == {"Floods", "After"}
    verified = CliRunner().invoke(main, ["verify", "--index", target])
    assert verified.exit_code == 0, verified.output
    assert CliRunner().invoke(main, ["backup", target, "--index", where, "--desk", desk]).exit_code == 0


def test_a_list_and_a_history_are_printed_as_json(desk: str) -> None:
    id = run(desk, "create", "Floods", "--as", "ann").strip()
    run(desk, "rename", "Floods", "Überschwemmung", "--as", "ann")
    listed = run(desk, "list", "--json")
    assert "Überschwemmung" in listed, "letters stay as they are"
    assert [(row["id"], row["owner"], row["items"]) for row in json.loads(listed)] == [(id, "ann", 0)]
    changes = json.loads(run(desk, "history", id, "--json"))
    assert [(row["version"], row["action"], row["who"]) for row in changes] == [
        (2, "rename", "ann"),
        (1, "create", "ann"),
    ]


def test_an_item_is_named_by_its_number_or_by_its_id(desk: str, clippings: Path) -> None:
    run(desk, "create", "Floods")
    run(desk, "add", "Floods", "--clippings", str(clippings))
    items = json.loads(run(desk, "show", "Floods", "--json"))["items"]
    assert run(desk, "remove", "Floods", items[0]["id"]) == "removed 1 item; version 3\n"
    assert "tags" not in run(desk, "show", "Floods"), "it has none"
    left = json.loads(run(desk, "show", "Floods", "--json"))["items"]
    assert [item["id"] for item in left] == [items[1]["id"]]
    assert run(desk, "remove", "Floods", "1") == "removed 1 item; version 4\n"
    assert json.loads(run(desk, "show", "Floods", "--json"))["items"] == []


def test_a_link_is_made_listed_and_revoked(desk: str) -> None:
    run(desk, "create", "Floods", "--as", "ann")
    made = run(desk, "link", "Floods", "--days", "7", "--as", "ann")
    assert made.startswith("/shared?token=") and len(made.split("=", 1)[1]) > 40
    (listed,) = run(desk, "link", "Floods", "--list").splitlines()
    id, about = listed.split("  ", 1)
    made_at, until = re.fullmatch(r"made (\S{16}) by ann, until (\S{16})", about).groups()  # type: ignore[union-attr]
    lasts = datetime.fromisoformat(until) - datetime.fromisoformat(made_at)
    assert abs(lasts - timedelta(days=7)) <= timedelta(minutes=1)
    for other in ("other", ""):
        assert f"no link {other!r}" in run(desk, "link", "Floods", "--revoke", other, fails=True)
    assert run(desk, "link", "Floods", "--revoke", id) == f"revoked {id}\n"
    (listed,) = run(desk, "link", "Floods", "--list").splitlines()
    assert listed == f"{id}  made {made_at} by ann, revoked", "no other link was made"


def test_a_dossier_that_is_deleted_for_good_is_not_restored(desk: str) -> None:
    run(desk, "create", "Floods")
    assert run(desk, "delete", "Floods") == "deleted Floods\n"
    assert run(desk, "list") == "" and "Floods" in run(desk, "list", "--deleted")
    run(desk, "restore", "Floods", "1")
    assert "Floods" in run(desk, "list")
    assert run(desk, "delete", "Floods", "--for-good") == "deleted Floods\n"
    assert run(desk, "list", "--deleted") == ""
    assert "there is no dossier" in run(desk, "restore", "Floods", "1", fails=True)


def test_what_a_command_lacks_is_named(desk: str, clippings: Path, tmp_path: Path) -> None:
    run(desk, "create", "Floods")
    assert "give --document or --clippings" in run(desk, "add", "Floods", fails=True)
    for option in ("--note", "--tag"):
        refused = run(desk, "add", "Floods", "--clippings", str(clippings), option, "x", fails=True)
        assert "clippings keep their own notes and tags" in refused
    assert "give a note, --tag or --judgement" in run(desk, "note", "Floods", "1", fails=True)
    for command in ("backup", "restore-backup"):
        assert "leave out --as" in run(desk, command, str(tmp_path / "b"), "--as", "ann", fails=True)
    assert not (tmp_path / "b").exists()


def test_a_file_that_cannot_be_read_or_written_is_named(desk: str, tmp_path: Path) -> None:
    run(desk, "create", "Floods")
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    for path in (broken, tmp_path / "none.json"):
        refused = run(desk, "add", "Floods", "--clippings", str(path), fails=True)
        assert refused.startswith(f"Error: cannot read clippings of {path}: ")
    target = tmp_path / "none" / "floods.md"
    refused = run(desk, "export", "Floods", str(target), fails=True)
    assert refused == f"Error: cannot write {target}: no such file or directory\n"


def test_a_desk_is_replaced_only_after_a_yes(desk: str, tmp_path: Path) -> None:
    run(desk, "create", "Before")
    copy = str(tmp_path / "copy")
    run(desk, "backup", copy)
    run(desk, "create", "After")
    command = ["dossier", "restore-backup", copy, "--desk", desk]
    declined = CliRunner().invoke(main, command, input="n\n")
    assert (
        declined.exit_code == 1 and f"Replace all dossiers in the desk by those of {copy}?" in declined.output
    )
    assert "After" in run(desk, "list")
    agreed = CliRunner().invoke(main, command, input="y\n")
    assert agreed.exit_code == 0 and f"restored the desk from {copy}" in agreed.output
    assert "Before" in run(desk, "list") and "After" not in run(desk, "list")
