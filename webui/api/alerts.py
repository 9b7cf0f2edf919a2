"""The operations of the API on alerts: saved searches of a person that are delivered.

The docstring of each handler is its description.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from esr.alerts.choices import AT_ONCE, DEFAULT_ZONE
from esr.arguments.types import Schema
from esr.dossiers.records import SavedSearch
from esr.errors import InputError, UsageError
from esr.stdlib import import_lazily
from webui.api.operation import Call, Operation, body_schema, read_stored_body
from webui.api.shapes import array, described, having, reference
from webui.running.problems import Forbidden, RequestError, blame_argument
from webui.running.served_desk import ServedDesk, as_request_errors
from webui.running.served_indexes import Visit
from webui.running.settings import Settings

if TYPE_CHECKING:
    from esr.alerts import alert_conditions, channels, outbox, runs
    from esr.alerts import preview as previews
    from esr.alerts.alert_conditions import Conditions
else:
    alert_conditions = import_lazily("esr.alerts.alert_conditions")
    channels = import_lazily("esr.alerts.channels")
    outbox = import_lazily("esr.alerts.outbox")
    previews = import_lazily("esr.alerts.preview")
    runs = import_lazily("esr.alerts.runs")


def _describe(search: SavedSearch, failure: str = "") -> dict[str, Any]:
    delivery = search.delivery
    return {
        "id": search.id,
        "name": search.name,
        "owner": search.owner,
        "index": delivery.get("index", ""),
        "arguments": {name: list(texts) for name, texts in search.arguments.items()},
        "to": delivery.get("to", []),
        "every": delivery.get("every", ""),
        "zone": delivery.get("zone", ""),
        "paused": bool(delivery.get("is_paused")),
        "failure": failure,
    }


def list_alerts(call: Call) -> dict[str, Any]:
    """List the alerts that you may read, and why the last run of one failed."""
    searches = call.desk.saved_searches.list_readable(call.desk.person)
    failures = outbox.Outbox(call.desk.desk).failures()
    listed = [
        _describe(search, failures.get(search.id, ""))
        for search in searches
        if search.delivery.get("collection")
    ]
    return {"alerts": listed}


def list_deliveries(call: Call) -> dict[str, Any]:
    """List the last 100 deliveries of an alert, the newest first."""
    with as_request_errors("id"):
        search = call.desk.saved_searches.read(call.desk.person, call.arguments.first("id"))
    names = ("id", "target", "made_at", "state", "attempts", "next_at", "ended_at", "error")
    deliveries = outbox.Outbox(call.desk.desk).deliveries(search.id)
    return {"deliveries": [{name: getattr(delivery, name) for name in names} for delivery in deliveries]}


def preview(call: Call) -> dict[str, Any]:
    """Show what an alert would have told of the last days: by day and, for meaning, by least similarity."""
    texts_by_name = {name: texts for name, texts in call.arguments.items() if name not in ("days", "index")}
    with blame_argument("q"):
        _, conditions = read_alert_arguments(texts_by_name)
        alert_preview = previews.preview_alert(
            call.searcher.index.snapshot(), conditions, call.arguments.value("days")
        )
    return alert_preview.as_dict()


def read_alert_arguments(arguments: Mapping[str, Sequence[str]]) -> tuple[dict[str, Any], Conditions]:
    """The conditions in arguments of an address, as a table and read. Raises RequestError."""
    with blame_argument("arguments"):
        try:
            table = alert_conditions.read_arguments(arguments)
            return table, alert_conditions.read_conditions(table)
        except InputError as error:
            raise UsageError(str(error)) from error


def create(call: Call) -> dict[str, Any]:
    """Add an alert for new documents of the index, which you own."""
    body = read_stored_body(call, "alert_create")
    return _describe(make_alert(call.desk, call.settings, call.visit, body))


def make_alert(desk: ServedDesk, settings: Settings, visit: Visit, body: Mapping[str, Any]) -> SavedSearch:
    """Keep an alert of the sender: the name, arguments and delivery of `body` are as operations take them.

    Raises RequestError with the field at fault, Forbidden for those who see only a part of an index.
    """
    person = desk.person
    if desk.sees_part:
        raise Forbidden("alerts are for those who may search all of an index", None)
    allowed = settings.alert_to.split()
    for target in body["to"]:
        with blame_argument("to"):
            channels.check_target(target)
        if not any(fnmatchcase(target, pattern) for pattern in allowed):
            known = ", ".join(allowed) or "none"
            raise RequestError(f"alerts may not be sent to {target!r}: this server allows {known}", "to")
    arguments, _ = read_alert_arguments(body["arguments"])
    with blame_argument("every"):
        delivery = runs.make_delivery(
            runs.settle_location(visit.searcher.index.where),
            body["to"],
            body.get("every", AT_ONCE),
            body.get("zone", DEFAULT_ZONE),
        )
    delivery["index"] = visit.index_name
    with as_request_errors("name"):
        return runs.add_alert(desk.desk, person, body["name"], arguments, delivery)


def pause(call: Call) -> dict[str, Any]:
    """Let an alert wait, or deliver again, with what it has found meanwhile."""
    person = call.desk.person
    body = read_stored_body(call, "alert_pause")
    with as_request_errors("id"):
        return _describe(runs.set_pause(call.desk.desk, person, body["id"], is_paused=body["paused"]))


def delete(call: Call) -> dict[str, Any]:
    """Delete an alert with what it has not delivered."""
    person = call.desk.person
    body = read_stored_body(call, "alert_delete")
    with as_request_errors("id"):
        call.desk.saved_searches.delete(person, body["id"])
    return {"id": body["id"]}


_TEXT: Schema = {"type": "string"}
_TEXTS = array(_TEXT)
_COUNTS: Schema = {"type": "object", "additionalProperties": {"type": "integer"}}
ALERT_SCHEMAS: dict[str, Schema] = {
    "Alerts": having(alerts=array(reference("Alert"))),
    "Alert": having(
        id=_TEXT,
        name=_TEXT,
        owner=_TEXT,
        index=described(_TEXT, "the index whose new documents are matched"),
        arguments=described(
            {"type": "object", "additionalProperties": _TEXTS}, "the conditions, as an address has them"
        ),
        to=_TEXTS,
        every=_TEXT,
        zone=_TEXT,
        paused={"type": "boolean"},
        failure=described(_TEXT, "why its last run failed, or empty"),
    ),
    "AlertLog": having(
        deliveries=array(
            having(
                id=described(_TEXT, "the same for all attempts"),
                target=_TEXT,
                made_at=_TEXT,
                state={"enum": ["waiting", "sending", "sent", "failed"]},
                attempts={"type": "integer"},
                next_at=described(_TEXT, "when it is tried next, if it waits"),
                ended_at=_TEXT,
                error=_TEXT,
            )
        )
    ),
    "AlertPreview": having(
        first=_TEXT,
        last=_TEXT,
        sentences={"type": "integer"},
        by_day=described(_COUNTS, "the number of sentences by day, of days with any"),
        examples=array(
            having(
                sentence_id=_TEXT,
                text=_TEXT,
                date={"type": ["string", "null"]},
                source={"type": ["string", "null"]},
                score={"type": "number"},
                similarity={"type": ["number", "null"]},
            )
        ),
        by_similarity=described(_COUNTS, "the number of sentences at each least similarity"),
        unusual=described(_TEXTS, "the days with more sentences than usual"),
        incomplete=described({"type": ["integer", "null"]}, "only so many sentences were read"),
    ),
    "AlertDeleted": having(id=_TEXT),
}
"""The schemas of the answers."""
OPERATIONS = (
    Operation("alerts", list_alerts, "Alerts", errors=(404,)),
    Operation(
        "alert_create",
        create,
        "Alert",
        method="POST",
        path="/alerts",
        body=body_schema("alert_create"),
        errors=(404,),
    ),
    Operation("alert_preview", preview, "AlertPreview", path="/alerts/preview"),
    Operation("alert_log", list_deliveries, "AlertLog", path="/alerts/log", errors=(404,)),
    Operation(
        "alert_pause",
        pause,
        "Alert",
        method="POST",
        path="/alerts/pause",
        body=body_schema("alert_pause"),
        errors=(404, 409),
    ),
    Operation(
        "alert_delete",
        delete,
        "AlertDeleted",
        method="POST",
        path="/alerts/delete",
        body=body_schema("alert_delete"),
        errors=(404,),
    ),
)
"""The operations."""
