"""The arguments of alerts: their conditions beside words and filters, and their delivery.

Commands take them as options, and requests in addresses or, after `BODY`, in their bodies.
"""

from __future__ import annotations

from esr.alerts.choices import AT_ONCE, DEFAULT_SIMILARITY, DEFAULT_ZONE, MOST_EXAMPLES, PREVIEW_DAYS
from esr.arguments.argument import COMMAND, Argument
from esr.arguments.filters import filters_of
from esr.arguments.reading import QUERY, READING
from esr.arguments.tables.assistants import TOOL
from esr.arguments.tables.dossiers import BODY
from esr.arguments.tables.lists import LISTS
from esr.arguments.types import Between, FilePath, Flag, Structure, Text, Texts, WholeNumber

_CONDITIONS, _ADD, _RUN = "alert_conditions", "alert_delivery", "alert_run"
_PREVIEW, _CREATE = "alert_preview", f"{BODY}alert_create"
_BOTH = f"{_CONDITIONS} {_PREVIEW} {TOOL}alert_create"
ALERTS: tuple[Argument, ...] = (
    Argument("query", "the words, or the query language", Text(), _CONDITIONS, is_positional=True),
    Argument(
        "like",
        f"a sentence: what is similar to it in meaning, by {DEFAULT_SIMILARITY:g} or as --similarity says",
        Texts(),
        _BOTH,
        "condition",
        is_repeatable=True,
        metavar="SENTENCE",
    ),
    Argument(
        "similarity",
        "the least similarity, from -1 to 1",
        Between(low=-1.0, high=1.0),
        _BOTH,
        "condition",
        metavar="NUMBER",
    ),
    Argument(
        "least_score",
        "sentences with any of the words and at least this score, in place of those with all words",
        Between(low=-1e9, high=1e9),
        _BOTH,
        "condition",
        metavar="NUMBER",
    ),
    Argument("unusual", "only days on which more sentences than usual match", Flag(), _BOTH, "condition"),
    Argument(
        "to",
        "where to: mailto:ann@example.org, https://… for a webhook, or an address of apprise",
        Texts(),
        _ADD,
        is_repeatable=True,
        metavar="TARGET",
    ),
    Argument(
        "every",
        "when: at once, hourly, daily 08:00, weekly monday 08:00",
        Text(usual=AT_ONCE),
        f"{_ADD} {TOOL}alert_create",
        metavar="WHEN",
    ),
    Argument(
        "zone",
        "the time zone of the clock, such as Europe/Berlin",
        Text(usual=DEFAULT_ZONE),
        f"{_ADD} {TOOL}alert_create",
    ),
    Argument("owner", "the account that the alert belongs to", Text(usual="operator"), _ADD),
    Argument(
        "file",
        "add each search of a file of esr watch, instead of NAME and a query",
        FilePath(),
        _ADD,
        sets="path",
    ),
    Argument(
        "collection",
        "the location of a collection, as NAME=WHERE, where alerts name it so",
        Texts(),
        _RUN,
        is_repeatable=True,
        sets="collections",
        metavar="NAME=WHERE",
    ),
    Argument("once", "end after one run, as for a timer", Flag(), _RUN),
    Argument("pause", "seconds between runs", WholeNumber(high=86_400, usual=60), _RUN),
    Argument("from_start", "also tell what a collection has at its first run", Flag(), _RUN),
    Argument(
        "access",
        "the file of grants of the server: an alert stops when its owner may no longer search its index",
        FilePath(),
        "alert_access",
    ),
    Argument("retry", "try again at once what has failed, also for good", Flag(), "alert_deliver"),
    Argument("days", "the number of days", WholeNumber(high=366, usual=PREVIEW_DAYS), _PREVIEW),
    Argument(
        "desk",
        "the desk with the saved searches: a file, or an address of PostgreSQL",
        Text(),
        "alert_desk",
        sets="desk_where",
        metavar="DESK",
    ),
    Argument("q", QUERY, Text("query_chars"), _PREVIEW),
    Argument("id", "the id of the alert", Text(min_chars=1), "alert_log", is_required=True),
    Argument(
        "name",
        "the name of the alert",
        Structure(shape={"type": "string", "minLength": 1, "maxLength": 200}),
        _CREATE,
        is_required=True,
    ),
    Argument(
        "arguments",
        "the conditions: texts by the names of the arguments of alert_preview, as an address has them",
        Structure(
            shape={
                "type": "object",
                "maxProperties": 30,
                "additionalProperties": {
                    "type": "array",
                    "maxItems": MOST_EXAMPLES,
                    "items": {"type": "string", "maxLength": 2_000},
                },
            }
        ),
        _CREATE,
        is_required=True,
    ),
    Argument(
        "to",
        "where to: mailto:ann@example.org, https://… for a webhook, or an address of apprise",
        Structure(
            shape={
                "type": "array",
                "minItems": 1,
                "maxItems": 20,
                "items": {"type": "string", "maxLength": 500},
            }
        ),
        _CREATE,
        is_required=True,
    ),
    Argument(
        "every",
        "when: at once, hourly, daily 08:00, weekly monday 08:00",
        Structure(shape={"type": "string", "maxLength": 100, "default": AT_ONCE}),
        _CREATE,
    ),
    Argument(
        "zone",
        "the time zone of the clock, such as Europe/Berlin",
        Structure(shape={"type": "string", "maxLength": 100, "default": DEFAULT_ZONE}),
        _CREATE,
    ),
    Argument(
        "id",
        "the id of the alert",
        Text(min_chars=1),
        f"{BODY}alert_pause {BODY}alert_delete",
        is_required=True,
    ),
    Argument(
        "paused",
        "whether it waits: what it finds meanwhile is delivered afterwards",
        Structure(shape={"type": "boolean"}),
        f"{BODY}alert_pause",
        is_required=True,
    ),
)
"""What `esr alerts` takes beside the filters."""
CONDITIONS = (
    *(row for row in ALERTS if row.is_for(_CONDITIONS)),
    *(row for row in (*READING, *LISTS) if row.is_for(_CONDITIONS)),
    *filters_of(COMMAND),
)
"""All conditions of an alert."""
DELIVERY = tuple(row for row in ALERTS if row.is_for(_ADD))
RUN = tuple(row for row in ALERTS if row.is_for(_RUN))
