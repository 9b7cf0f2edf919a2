"""Arguments that each operation of the API answers, also those of a server with a desk."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from flask import Flask

import esr
from esr.alerts.runs import add_alert, make_delivery
from esr.dossiers.desk import open_desk
from esr.dossiers.records import Person
from webui.api.operations import OPERATIONS
from webui.app import create_app
from webui.running.served_indexes import Guard, ServedIndexes
from webui.running.settings import Settings


class Everybody(Guard):
    """Takes each sender for one person."""

    person = Person("ann")


def fill_desk(where: str, folder: Path) -> tuple[Flask, dict[str, dict[str, Any]]]:
    """An application with a dossier, and arguments or keys of a body for its operations."""
    settings = Settings(desk=str(folder / "desk.sqlite"), alert_to="mailto:*@example.org")
    content, good = _filled_desk(where)
    Path(settings.desk).write_bytes(content)
    indexes = ServedIndexes.at({"index": where}, settings)
    indexes.guard = Everybody()
    return create_app(indexes, settings), {name: good.get(name, good["dossier"]) for name in OPERATIONS}


@cache
def _filled_desk(where: str) -> tuple[bytes, dict[str, dict[str, Any]]]:
    """The file of a desk, filled once for an index, and arguments for operations on it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "desk.sqlite"
        good = _fill(str(file), where)
        return file.read_bytes(), good


def _fill(file: str, where: str) -> dict[str, dict[str, Any]]:
    with esr.open_dossiers(file, account="ann") as ann, esr.open(where) as index:
        id = ann.create("Storms").id
        items = [item.id for item in ann.add(id, ["a.s1", "b.s0"], index=index, index_name="index").items]
        link = ann.link(id)
    with open_desk(file) as desk:
        settled = make_delivery("index", ["mailto:ann@example.org"])
        alert = {"id": add_alert(desk, Everybody.person, "storms", {"query": "storm"}, settled).id}
    one = {"id": id}
    return {
        "dossier": one,
        "dossiers": {"holds": "a.s1"},
        "dossier_create": {"name": "Floods"},
        "dossier_shared": {"token": link.token},
        "dossier_add": {**one, "sentences": ["b.s1"]},
        "dossier_import": {**one, "clippings": [{"sentence_id": "x", "text": "Said."}]},
        "dossier_edit": {**one, "item": items[0], "note": "why"},
        "dossier_rename": {**one, "name": "Other"},
        "dossier_restore": {**one, "version": 1},
        "dossier_share": {**one, "name": "bob", "role": "reader"},
        "dossier_give": {**one, "name": "ann"},
        "dossier_revoke": {**one, "link": link.id},
        "alert_create": {"name": "x", "arguments": {"q": ["storm"]}, "to": ["mailto:ann@example.org"]},
        "alert_preview": {"q": "storm"},
        "alert_pause": {**alert, "paused": True},
        "alert_log": alert,
        "alert_delete": alert,
        **{f"dossier_{name}": {**one, "items": items} for name in ("move", "arrange", "remove")},
    }


CALLS: dict[str, dict[str, Any]] = {
    "search": {"q": "storm flood", "k": 3},
    "search_body": {"q": "storm flood", "k": 3, "fields": ["text", "matches"], "window": 2},
    "batch": {"queries": [{"id": "1", "query": "storm"}, {"id": "2", "query": "the"}], "k": 2},
    "facets": {"q": "storm flood"},
    "timeline": {"q": "storm"},
    "similar": {"id": "a.s1"},
    "concordance": {"q": "storm", "k": 3},
    "collocations": {"q": "storm", "min_count": 1},
    "quotes": {"speaker": "Ann Lee"},
    "evidence": {"q": "storm flood"},
    "reuse": {},
    "statements": {"name": "Ann Lee"},
    "names": {"prefix": "l"},
    "name": {"name": "Lee"},
    "network": {},
    "contrast": {"q": "storm", "part": "source:x", "min_count": 1},
    "frequencies": {"q": "storm", "also": ["flood"]},
    "keyness": {"q": "storm", "min_count": 1},
    "values": {"field": "source"},
    "complete": {"q": "sto"},
    "explain": {"q": "storm flood", "id": "a.s1", "feature": ["subj:linear:0.5"], "prior_length": 0.5},
    "document": {"id": "a", "q": "storm"},
    "documents": {"id": ["a", "b"], "q": "storm"},
    "compare": {"q": "storm flood"},
    "analyze": {"text": "The storms came."},
    "check": {"text": "the storms came"},
    "check_body": {"text": "“The storms came” and “the storm hit the coast”"},
    "models": {},
    "collection": {},
    "status": {},
    "query": {"q": "storm"},
}
"""For each operation, arguments that it answers. A folder answers `query` with an error."""


def choose_call(name: str, app: Flask, where: str, folder: Path) -> tuple[Flask, dict[str, Any]]:
    """An application that answers an operation, and arguments for it: those with a desk need another one."""
    if name in CALLS:
        return app, CALLS[name]
    app, good = fill_desk(where, folder)
    return app, {} if name == "alerts" else good[name]
