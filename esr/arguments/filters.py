"""The filters of searches: the table of them, and `Filters` made of values by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from esr.arguments.argument import ASSISTANT, SEARCHES, Alias, Argument
from esr.arguments.operations import FILTERED
from esr.arguments.types import Day, Flag, Pairs, Texts
from esr.errors import UsageError, unknown
from esr.index.filters import NO_FILTERS, Filters, build_attribute_filters
from esr.index.names import ENTITY_TYPES
from esr.text.attributes import META, META_PREFIX

_TEXTS = Texts()


def _filter(
    name: str,
    help: str,
    sets: str,
    type: Day | Flag | Texts = _TEXTS,
    *,
    also_applies_to: str = "",
    label: str = "",
    **settings: Any,
) -> Argument:
    """The row of a filter; `settings` are other fields of an argument."""
    is_date = isinstance(type, Day)
    return Argument(
        name,
        help,
        type,
        f"{SEARCHES} page {FILTERED} quotes {also_applies_to}",
        "filter",
        is_repeatable=isinstance(type, Texts),
        label=label,
        phrase=f"{name} {{}}" if is_date else label.lower() if isinstance(type, Flag) else "",
        sets=sets,
        **settings,
    )


FILTERS: tuple[Argument, ...] = (
    _filter(
        "after",
        "only documents of this date or later, such as 2017, 2017-03 or 2017-03-05",
        "date_from",
        Day(edge="first"),
        label="From",
        empty="any day",
        aliases=(Alias("from", "0.3", applies_to=f"command watch page {FILTERED} quotes"),),
        foreign_names=("from_", "since", "date_from", "start_date"),
        also_applies_to=ASSISTANT,
    ),
    _filter(
        "before",
        "only documents before the beginning of this date",
        "date_to",
        Day(edge="before"),
        label="Before",
        empty="any day",
        aliases=(
            Alias(
                "to",
                "0.3",
                Day(edge="last"),
                applies_to=f"{SEARCHES} page {FILTERED} quotes",
                note="which excludes its date",
            ),
        ),
        foreign_names=("until", "date_to", "end_date"),
        also_applies_to=ASSISTANT,
    ),
    _filter(
        "source",
        "only documents of this source, such as bbc.co.uk",
        "sources",
        label="Source",
        empty="any source",
        foreign_names=("sources", "publisher"),
        also_applies_to=ASSISTANT,
    ),
    _filter("author", "only documents of this author", "author", label="Author", empty="any author"),
    _filter("section", "only documents of this section", "section", label="Section", empty="any section"),
    _filter("keyword", "only documents with this keyword", "keyword", label="Keyword", empty="any keyword"),
    _filter(META, "only documents with this in their metadata, as in desk=Berlin", META, Pairs()),
    _filter("document", "only the document with this id", "documents"),
    _filter(
        "entity",
        f"only sentences that name this entity, as in person:Barack Obama; types: {', '.join(ENTITY_TYPES)}",
        "entities",
        label="Name in the sentence",
        empty="any person, place …",
    ),
    _filter(
        "independent",
        "only sentences that are no copies of earlier ones, so each group of copies counts once "
        "(needs esr enrich --only reuse)",
        "independent",
        Flag(),
        label="Without copies of earlier sentences",
        also_applies_to=ASSISTANT,
    ),
)
"""The filters. One of an attribute of documents or of a key of their metadata, such as `meta.country`, is
only its row. The engines compare what the others set in `Filters`."""


METADATA_FILTERS: dict[str, Argument] = {row.sets: row for row in FILTERS if row.sets.startswith(META_PREFIX)}
"""The filters of single keys of the metadata, by field, such as `meta.country`."""


def filters_of(taker: str) -> tuple[Argument, ...]:
    """The filters that a door or an operation takes."""
    return tuple(row for row in FILTERS if row.is_for(taker))


def read_filters(
    filters: Filters | Mapping[str, Any] | None,
    *,
    label: Callable[[str], str] = "filter {!r}".format,
    blame: Callable[[str], AbstractContextManager[None]] = lambda _: nullcontext(),
) -> Filters:
    """Read filters from a mapping from their names to values: `{"source": "BBC", "after": "2024"}`.

    Former names count too. Filters are returned as they are; None means no filters, and a value None that a
    filter is not given. `label` makes the subject of messages of a name, and `blame` gives the context in
    which its value is read. Raises UsageError for anything else.
    """
    if isinstance(filters, Filters):
        return filters
    if filters is None:
        return NO_FILTERS
    if not isinstance(filters, Mapping):
        example = "{'source': 'BBC', 'after': '2024-01'}"
        raise UsageError(f"filters are Filters or a mapping such as {example}, not {filters!r}")
    for name in filters:
        if name not in _TYPES:
            raise unknown("filter", str(name), _TYPES)
    moments: dict[str, list[tuple[int, str]]] = {"date_from": [], "date_to": []}
    texts: dict[str, tuple[str, ...]] = {}
    flags: dict[str, bool] = {}
    for name, (row, type) in _TYPES.items():
        value = filters.get(name)
        if value is None:
            continue
        with blame(name):
            if isinstance(type, Day):
                moments[row.sets].append((type.read_value(label(name), value), name))
            elif isinstance(type, Flag):
                flags[row.sets] = _read_flag(type, label(name), value)
            elif isinstance(type, Texts):
                texts[row.sets] = texts.get(row.sets, ()) + type.read_value(label(name), value)
    start, first = max(moments["date_from"], default=(None, ""))
    end, last = min(moments["date_to"], default=(None, ""))
    if start is not None and end is not None and start > end:
        with blame(first):
            raise UsageError(
                f"the first day is after the last, {filters[first]} and {filters[last]}: "
                f"swap {label(first)} and {label(last)}"
            )
    sources, documents, entities = (texts.pop(name, ()) for name in ("sources", "documents", "entities"))
    with blame(META):
        attributes = build_attribute_filters(texts, texts.pop(META, ()))
    return Filters(start, end, sources, documents, entities, attributes, **flags)


def _read_flag(type: Flag, name: str, value: Any) -> bool:
    """A flag, also as a word of an address. Raises UsageError, whose message begins with `name`."""
    if isinstance(value, bool):
        return value
    if value not in type.words:
        raise UsageError(f"{name} is {' or '.join(type.words)}, not {value!r}")
    return bool(value == type.words[0])


_TYPES = {name: (row, type) for row in FILTERS for name, type in row.names("page")}
"""The names of all filters, also the former ones, with the types of their values."""
