"""The operations of the API on dossiers, and their answers.

The sender of a request acts with the role that the dossier gives, and sees of its items those whose documents
the sender may see. The docstring of each handler is its description.
"""

from __future__ import annotations

from typing import Any, get_args

from flask import url_for
from msgspec import UNSET, convert, to_builtins

from esr.arguments.types import Schema
from esr.dossiers.contents import Address, read_clippings, read_contents
from esr.dossiers.readings import STATUSES, Reading
from esr.dossiers.records import (
    ROLES,
    Change,
    Content,
    Dossier,
    Edit,
    Highlight,
    Item,
    Kind,
    Link,
    Member,
    Summary,
    Written,
)
from esr.following.alerts.atom import text_digest
from webui.api.operation import Call, Operation, body_schema, read_stored_body
from webui.api.shapes import array, describe_fields, described, having, reference
from webui.running.problems import RequestError, look_up
from webui.running.served_desk import as_request_errors

# Answers


def item_dict(item: Item) -> dict[str, Any]:
    """An item as JSON data, with all of its fields."""
    return {name: to_builtins(getattr(item, name)) for name in item.__struct_fields__}


def reading_dict(reading: Reading) -> dict[str, Any]:
    """An item beside the index as it is now, as JSON data."""
    item = reading.item and item_dict(reading.item)
    return {**to_builtins(reading), "item": item}


def dossier_dict(dossier: Dossier, readings: list[Reading]) -> dict[str, Any]:
    """A dossier as JSON data, with its items as the sender may see them."""
    data: dict[str, Any] = {**to_builtins(dossier), "items": [reading_dict(reading) for reading in readings]}
    return data


def _written(written: Written) -> dict[str, Any]:
    return {**to_builtins(written), "items": [item_dict(item) for item in written.items]}


# Handlers


def list_dossiers(call: Call) -> dict[str, Any]:
    """List the dossiers that you may read, those that changed last first."""
    person, store = call.desk.person, call.desk.dossiers
    listed = store.list_readable(person, is_deleted=call.arguments.value("deleted") == "yes")
    wanted = call.arguments.values_of("holds")
    holding = store.find_holding(person, wanted) if wanted else {}
    if wanted:
        ids = {id for dossiers in holding.values() for id in dossiers}
        listed = [summary for summary in listed if summary.id in ids]
    return {"dossiers": [to_builtins(summary) for summary in listed], "holding": holding}


def read_dossier(call: Call) -> dict[str, Any]:
    """Read a dossier: its items in their order, each beside the index as it is now."""
    with as_request_errors():
        dossier = call.desk.dossiers.read(
            call.desk.person, call.arguments.first("id"), call.arguments.value("version")
        )
    return dossier_dict(dossier, call.desk.read_items(dossier.items))


def read_shared(call: Call) -> dict[str, Any]:
    """Read a dossier by a link, as far as you may search its documents."""
    dossier, readings = call.desk.read_link(call.arguments.first("token"))
    return dossier_dict(dossier, readings)


def read_history(call: Call) -> dict[str, Any]:
    """List the changes of a dossier, the newest first: who changed what, and when."""
    with as_request_errors():
        changes = call.desk.dossiers.history(call.desk.person, call.arguments.first("id"))
    return {"changes": to_builtins(changes)}


def list_links(call: Call) -> dict[str, Any]:
    """List the links for reading a dossier, without their tokens."""
    with as_request_errors():
        listed = call.desk.links.list_links(call.desk.person, call.arguments.first("id"))
    return {"links": to_builtins(listed)}


def create(call: Call) -> dict[str, Any]:
    """Make an empty dossier, which you own."""
    body = read_stored_body(call, "dossier_create")
    with as_request_errors():
        dossier = call.desk.dossiers.create(call.desk.person, body["name"], body.get("description", ""))
    return dossier_dict(dossier, [])


def add(call: Call) -> dict[str, Any]:
    """Add sentences and documents of an index, with their texts. What is there already is not added again."""
    body = read_stored_body(call, "dossier_add")
    with as_request_errors(), look_up("sentence or document", ", ".join(_ids(body))):
        contents = read_contents(
            call.searcher.index,
            body.get("sentences", ()),
            body.get("documents", ()),
            name=call.visit.index_name,
            address=permanent(call.arguments.first("index")),
        )
    tagged = [convert({**to_builtins(c), **_select(body, "note", "tags")}, Content) for c in contents]
    with as_request_errors():
        written = call.desk.dossiers.add(call.desk.person, body["id"], tagged, after=body.get("after"))
    return _written(written)


def import_clippings(call: Call) -> dict[str, Any]:
    """Add the clippings that a browser has kept, with their notes and tags."""
    body = read_stored_body(call, "dossier_import")
    with as_request_errors("clippings"):
        contents = read_clippings(body["clippings"], name=call.visit.index_name)
    with as_request_errors():
        written = call.desk.dossiers.add(call.desk.person, body["id"], contents, after=body.get("after"))
    return _written(written)


def edit(call: Call) -> dict[str, Any]:
    """Change the note, tags, highlights or judgement of an item. Changes by others since then are merged."""
    body, store, person = read_stored_body(call, "dossier_edit"), call.desk.dossiers, call.desk.person
    marks = body.get("highlights")
    change = Edit(
        note=body.get("note", UNSET),
        tags=tuple(body["tags"]) if "tags" in body else UNSET,
        highlights=UNSET if marks is None else tuple(Highlight(**mark) for mark in marks),
        judgement=body.get("judgement", UNSET),
    )
    with as_request_errors():
        call.desk.read_item(store.read(person, body["id"]), body["item"])
        return _written(store.edit(person, body["id"], body["item"], change, base=body.get("base")))


def move(call: Call) -> dict[str, Any]:
    """Move items behind another one, or to the start."""
    body = read_stored_body(call, "dossier_move")
    where = {"after": body.get("after"), "base": body.get("base")}
    with as_request_errors():
        return _written(call.desk.dossiers.move(call.desk.person, body["id"], body["items"], **where))


def arrange(call: Call) -> dict[str, Any]:
    """Put the items into an order. Items that it does not name stay behind the one before them."""
    body = read_stored_body(call, "dossier_arrange")
    with as_request_errors():
        return _written(call.desk.dossiers.arrange(call.desk.person, body["id"], body["items"]))


def remove(call: Call) -> dict[str, Any]:
    """Remove items from a dossier."""
    body = read_stored_body(call, "dossier_remove")
    with as_request_errors():
        return _written(call.desk.dossiers.remove(call.desk.person, body["id"], body["items"]))


def rename(call: Call) -> dict[str, Any]:
    """Change the name or the description of a dossier."""
    body = read_stored_body(call, "dossier_rename")
    with as_request_errors():
        return _written(
            call.desk.dossiers.rename(
                call.desk.person, body["id"], **_select(body, "name", "description", "base")
            )
        )


def restore(call: Call) -> dict[str, Any]:
    """Make an earlier state of a dossier the present one, which is a change itself."""
    body = read_stored_body(call, "dossier_restore")
    with as_request_errors():
        return _written(call.desk.dossiers.restore(call.desk.person, body["id"], body["version"]))


def share(call: Call) -> dict[str, Any]:
    """Make an account or a group a reader or writer of a dossier, or end that.

    The answer says whether the server knows anybody of that name.
    """
    body = read_stored_body(call, "dossier_share")
    role = None if body["role"] == "none" else body["role"]
    id, name, is_group = body["id"], body["name"], body.get("group", False)
    with as_request_errors():
        written = call.desk.dossiers.share(call.desk.person, id, name, role, is_group=is_group)
    return {**_written(written), "name_known": call.desk.is_known(name, is_group=is_group)}


def give(call: Call) -> dict[str, Any]:
    """Make another account the owner of a dossier. You stay a writer."""
    body = read_stored_body(call, "dossier_give")
    with as_request_errors():
        person = call.desk.person
        is_owner = call.desk.dossiers.read(person, body["id"]).role == "owner"
        if is_owner and call.desk.is_known(body["name"]) is False:
            raise RequestError(f"nobody of the name {body['name']} is known to this server", "name")
        return _written(call.desk.dossiers.give(person, body["id"], body["name"]))


def link(call: Call) -> dict[str, Any]:
    """Make a link for reading a dossier. Its token is shown only once."""
    body = read_stored_body(call, "dossier_link")
    with as_request_errors("days"):
        share_link = call.desk.links.make(call.desk.person, body["id"], **_select(body, "days"))
    data: dict[str, Any] = to_builtins(share_link)
    return data


def revoke(call: Call) -> dict[str, Any]:
    """End a link for reading at once."""
    body = read_stored_body(call, "dossier_revoke")
    with as_request_errors("link"):
        call.desk.links.revoke(call.desk.person, body["id"], body["link"])
        return {"links": to_builtins(call.desk.links.list_links(call.desk.person, body["id"]))}


def delete(call: Call) -> dict[str, Any]:
    """Delete a dossier. You can restore it, unless it is deleted for good."""
    body = read_stored_body(call, "dossier_delete")
    is_for_good = body.get("for_good", False)
    remove = call.desk.dossiers.erase if is_for_good else call.desk.dossiers.delete
    with as_request_errors():
        remove(call.desk.person, body["id"])
    return {"id": body["id"], "for_good": is_for_good}


def _select(body: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: body[name] for name in names if name in body}


def _ids(body: dict[str, Any]) -> list[str]:
    return [*body.get("sentences", ()), *body.get("documents", ())]


def permanent(index: str) -> Address:
    """A function to the permanent address of a document or sentence, of the index that a request names."""
    named = {"index": index} if index else {}

    def address(document_id: str, text: str) -> str:
        if not text:
            return url_for("document", id=document_id, **named, _external=True)
        return url_for("sentence", id=document_id, says=text_digest(text), **named, _external=True)

    return address


_ITEM: dict[str, Schema] = {
    **describe_fields(Item, without=("kind", "highlights")),
    "kind": {"enum": list(get_args(Kind))},
    "highlights": array(having(**describe_fields(Highlight))),
}
_MEMBER: dict[str, Schema] = {**describe_fields(Member, without=("role",)), "role": {"enum": list(ROLES)}}
_SUMMARY: dict[str, Schema] = {**describe_fields(Summary, without=("role",)), "role": {"enum": list(ROLES)}}
_DOSSIER: dict[str, Schema] = {
    **describe_fields(Dossier, without=("role", "items", "members")),
    "role": {"enum": list(ROLES)},
    "members": array(having(**_MEMBER)),
    "items": array(reference("DossierReading")),
}
DOSSIER_SCHEMAS: dict[str, Schema] = {
    "Dossiers": having(
        dossiers=array(having(**_SUMMARY)),
        holding=described(
            {"type": "object", "additionalProperties": array({"type": "string"})},
            "the dossiers that hold a sentence or document, by the ids that `holds` gave",
        ),
    ),
    "Dossier": having(**_DOSSIER),
    "DossierReading": having(
        id={"type": "string"},
        status=described({"enum": list(STATUSES)}, "what the item is beside the index as it is now"),
        item=described({"anyOf": [reference("DossierItem"), {"type": "null"}]}, "null where it is withheld"),
        now=described({"type": "string"}, "the later wording, where it has changed"),
        sentence_id=described({"type": "string"}, "the id under which the index has the sentence now"),
        before=described({"type": "string"}, "the sentence before it in its document"),
        after=described({"type": "string"}, "the sentence after it in its document"),
    ),
    "DossierItem": having(**_ITEM),
    "DossierChanged": having(
        **describe_fields(Written, without=("items",)), items=array(reference("DossierItem"))
    ),
    "DossierShared": having(
        **describe_fields(Written, without=("items",)),
        items=array(reference("DossierItem")),
        name_known=described(
            {"type": ["boolean", "null"]},
            "whether the server knows anybody of the name; null where accounts are not listed, so that it "
            "must be spelled as at the login",
        ),
    ),
    "DossierHistory": having(changes=array(having(**describe_fields(Change)))),
    "DossierLinks": having(links=array(reference("DossierLink"))),
    "DossierLink": having(**describe_fields(Link)),
    "DossierDeleted": having(id={"type": "string"}, for_good={"type": "boolean"}),
}
"""The schemas of the answers."""


def _post(name: str, handler: Any, answer: str = "DossierChanged", path: str = "") -> Operation:
    return Operation(
        name,
        handler,
        answer,
        method="POST",
        path=f"/dossiers{path}",
        body=body_schema(name),
        errors=(404, 409),
    )


OPERATIONS = (
    Operation("dossiers", list_dossiers, "Dossiers", errors=(404,)),
    _post("dossier_create", create, "Dossier"),
    Operation("dossier", read_dossier, "Dossier", path="/dossiers/one", errors=(404,)),
    Operation("dossier_history", read_history, "DossierHistory", path="/dossiers/history", errors=(404,)),
    Operation("dossier_shared", read_shared, "Dossier", path="/dossiers/shared", errors=(404,)),
    _post("dossier_add", add, path="/add"),
    _post("dossier_import", import_clippings, path="/import"),
    _post("dossier_edit", edit, path="/edit"),
    _post("dossier_move", move, path="/move"),
    _post("dossier_arrange", arrange, path="/arrange"),
    _post("dossier_remove", remove, path="/remove"),
    _post("dossier_rename", rename, path="/rename"),
    _post("dossier_restore", restore, path="/restore"),
    _post("dossier_share", share, "DossierShared", path="/share"),
    _post("dossier_give", give, path="/give"),
    Operation("dossier_links", list_links, "DossierLinks", path="/dossiers/links", errors=(404,)),
    _post("dossier_link", link, "DossierLink", path="/links"),
    _post("dossier_revoke", revoke, "DossierLinks", path="/links/revoke"),
    _post("dossier_delete", delete, "DossierDeleted", path="/delete"),
)
"""The operations."""
