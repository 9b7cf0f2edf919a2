"""A dossier as a file of any format, and as rich text for a clipboard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from flask import Response, jsonify

from esr.dossiers.exports.extract import DEFAULT_STYLE, NOTE_KINDS, Entry, Extract
from esr.dossiers.exports.formats import FORMATS
from esr.dossiers.exports.markup import write_fragment, write_text
from esr.dossiers.readings import Reading
from esr.dossiers.records import Item
from esr.stdlib import compile_lazily
from esr.text.dates import date_key
from webui.running.problems import RequestError, blame_argument

CLIPBOARD = "clipboard"
"""The name of the format with rich text and plain text, as JSON, for the script that copies."""
ORDERS = ("hand", "date", "source")
"""The orders of a dossier's page and files: as people have put the items, by date, and by source."""
_UNSAFE = compile_lazily(r"[^\w.-]+")


def order_readings(readings: Sequence[Reading], order: str) -> list[Reading]:
    """The readings in one of ORDERS. Those without a date or a source are last, as are withheld ones."""
    if order not in ORDERS:
        raise RequestError(
            f"argument 'order' must be one of {', '.join(ORDERS)}, not {order[:40]!r}", "order"
        )
    if order == "hand":
        return list(readings)
    key = _by_date if order == "date" else _source_key
    return sorted(
        readings, key=lambda reading: (reading.item is None, *(key(reading.item) if reading.item else ()))
    )


def _by_date(item: Item) -> tuple[bool, int]:
    return date_key(item.date)


def _source_key(item: Item) -> tuple[bool, str, bool, int]:
    return not item.source, (item.source or "").casefold(), *date_key(item.date)


def choose_readings(readings: Iterable[Reading], tag: str) -> list[Reading]:
    """The readings of items with a tag, or all without one."""
    return [reading for reading in readings if not tag or (reading.item and tag in reading.item.tags)]


def write_file(title: str, readings: Iterable[Reading], arguments: Mapping[str, str]) -> Response:
    """The items that are not withheld as a file.

    The arguments of an address are `format`, `style`, `citations`, `notes` and `neighbours`. Raises
    RequestError for a value that cannot be used, or a missing package.
    """
    format, style = arguments.get("format", ""), arguments.get("style") or DEFAULT_STYLE
    has_notes, kind = arguments.get("notes", "yes") == "yes", arguments.get("citations") or NOTE_KINDS[0]
    is_between = arguments.get("neighbours") == "yes"
    entries = [
        Entry.from_reading(reading) if is_between else Entry.from_item(reading.item)
        for reading in readings
        if reading.item
    ]
    with blame_argument("citations" if kind not in NOTE_KINDS else "style"):
        extract = Extract(title, entries, style, has_notes, kind)
    if format == CLIPBOARD:
        return jsonify({"html": write_fragment(extract), "text": write_text(extract)})
    with blame_argument("format"):
        chosen = FORMATS.find(format)
        chosen.check()
    response = Response(chosen.write(extract), mimetype=chosen.media_type)
    name = _UNSAFE.sub("-", title).strip("-.")[:60] or "dossier"
    response.headers.set("Content-Disposition", "attachment", filename=f"{name}.{chosen.ending}")
    return response
