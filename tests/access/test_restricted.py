"""The filter of a grant names fields of documents only, and says why another one is refused."""

from __future__ import annotations

import pytest

from esr.access.restricted import parse_restriction
from esr.errors import UsageError
from esr.plans.plan import AllOf, AnyOf, Condition, DateRange, HasAttribute, HasLanguage, HasSource, Not

DAY = 86_400_000


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("source:A", HasSource(("A",))),
        ("source:A OR source:B", AnyOf((HasSource(("A",)), HasSource(("B",))))),
        ("-source:A language:de", AllOf((HasLanguage("de"), Not(HasSource(("A",)))))),
        ("author:Ann", HasAttribute(("author",), ("Ann",))),
        ("meta.desk:Sports", HasAttribute(("meta.desk",), ("Sports",))),
        ("after:1970-01-02", DateRange(DAY, None)),
    ],
)
def test_fields_of_documents_restrict_what_is_seen(text: str, condition: Condition) -> None:
    assert parse_restriction(text) == condition


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("flood", "use only the fields source, author"),
        ("person:Ann", "use only the fields source, author"),
        ("source:A title:x", "use only the fields source, author"),
        ("", "use only the fields source, author"),
        ("after:7d", "write a day, such as 2017-03-05"),
        ("before:soon source:A", "a date such as 2017"),
        ("after:soon titel:x", "a date such as 2017"),
    ],
)
def test_another_filter_is_refused_with_what_to_write_instead(text: str, reason: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_restriction(text)
    assert str(raised.value).startswith(f"cannot filter by {text!r}: ") and reason in str(raised.value)
