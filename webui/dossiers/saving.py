"""Saving sentences and documents to a dossier, and moving the clippings of a browser there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec
from flask import Flask, Response, jsonify, redirect, request, url_for
from msgspec.structs import replace
from werkzeug.wrappers import Response as AnyResponse

from esr.dossiers.contents import read_clippings, read_contents
from esr.dossiers.records import Content, Person, Summary, allows
from esr.index.contract import read_document
from webui.api.dossiers import permanent
from webui.dossiers.forms import check_token, make_token, tell_added
from webui.pages.rendering import PageRenderer
from webui.running.problems import RequestError, look_up, wants_json
from webui.running.served_desk import ServedDesk, as_request_errors
from webui.running.served_indexes import ServedIndexes, Visit
from webui.translations.language import _

LAST = "esr_dossier"
"""The cookie with the id of the dossier to which this browser saved last."""
_LAST_SECONDS = 90 * 86_400
MOST_SAVED = 200
"""Maximum number of sentences that a form saves."""


def install(app: Flask, indexes: ServedIndexes, desk: ServedDesk, render: PageRenderer) -> None:
    """Add the page that saves, and the address that takes clippings."""
    route = partial(indexes.route, app)
    app.jinja_env.globals["saves_to_dossiers"] = lambda: desk.has_person

    @route("/save", "save")
    def ask(visit: Visit) -> Response:
        """The form that saves: sentences by id, or a document with its sentences to choose from."""
        person = desk.person
        ids, document_id = request.args.getlist("id"), request.args.get("document", "")
        document = None
        contents: Sequence[Content] = ()
        if document_id:
            with look_up("document", document_id):
                document = read_document(visit.searcher.index, document_id)
        else:
            contents = _read(visit, ids, "")
        return render(
            None,
            "save.html",
            contents=contents,
            document=document,
            chosen=ids,
            dossiers=list_writable(desk, person),
            holding=desk.dossiers.find_holding(person, [document_id] if document_id else ids),
            csrf=make_token(desk, person),
            index=request.args.get("index", ""),
        )

    @route("/save", "save_answer", method="POST")
    def save(visit: Visit) -> AnyResponse:
        person = desk.person
        check_token(desk, person)
        with as_request_errors():
            contents = _read(visit, request.form.getlist("id"), request.form.get("document", ""))
            note, tags = request.form.get("note", ""), request.form.get("tags", "").split(",")
            contents = [
                replace(content, note=note, tags=tuple(filter(None, map(str.strip, tags))))
                for content in contents
            ]
            return _add(desk, person, contents)

    @route("/save/clippings", "save_clippings", method="POST")
    def move(visit: Visit) -> AnyResponse:
        """Add the clippings that the browser sends as a field, with their notes and tags."""
        person = desk.person
        check_token(desk, person)
        try:
            sent = msgspec.json.decode(request.form.get("clippings", ""))
        except msgspec.DecodeError as error:
            raise RequestError(_("the clippings cannot be read"), "clippings") from error
        with as_request_errors("clippings"):
            contents = read_clippings(sent, name=visit.index_name)
            if not contents:
                raise RequestError(_("this browser has no clippings"), "clippings")
            return _add(desk, person, contents)


def _add(desk: ServedDesk, person: Person, contents: Sequence[Content]) -> AnyResponse:
    """Add contents to the dossier of the form, or to a new one, and say so."""
    id, name = request.form.get("dossier", ""), request.form.get("name", "").strip()
    known: tuple[str, ...] = ()
    if id:
        written = desk.dossiers.add(person, id, contents)
        items, known, name = written.items, written.known, desk.dossiers.read(person, id).name
    else:
        new = desk.dossiers.create(person, name or _("Clippings"), contents=contents)
        items, id, name = new.items, new.id, new.name
    first = next(iter((*(item.id for item in items), *known)), "")
    address = url_for("dossier", id=id) + (f"#item-{first}" if first else "")
    message = tell_added(len(items), len(known))
    response: AnyResponse
    if wants_json():
        response = jsonify(
            {"dossier": id, "name": name, "address": address, "told": message, "added": len(items)}
        )
    else:
        response = redirect(address, 303)
    response.set_cookie(
        LAST, id, max_age=_LAST_SECONDS, secure=request.is_secure, httponly=True, samesite="Lax"
    )
    return response


def _read(visit: Visit, ids: Sequence[str], document_id: str) -> list[Content]:
    if not ids and not document_id:
        raise RequestError(_("nothing was chosen: choose a sentence or the whole article"), "id")
    if len(ids) > MOST_SAVED:
        raise RequestError(_("choose at most %(most)s sentences", most=MOST_SAVED), "id")
    with look_up("sentence or document", ", ".join([*ids, document_id])[:200]):
        return read_contents(
            visit.searcher.index,
            ids,
            [document_id] if document_id else [],
            name=visit.index_name,
            address=permanent(request.values.get("index", "")),
        )


def list_writable(desk: ServedDesk, person: Person) -> list[Summary]:
    """The dossiers that the person may change: that to which the browser saved last, then the newest."""
    last: Any = request.cookies.get(LAST)
    readable = desk.dossiers.list_readable(person)
    writable = [summary for summary in readable if allows(summary.role, "change")]
    return sorted(writable, key=lambda summary: summary.id != last)
