"""The JSON Schema of a report on a query: how it was read, what matches it, what may be misspelt."""

from __future__ import annotations

from typing import get_args

from esr.queries import FIELDS, TEXT, Form
from esr.queries.understanding import Reading
from webui.api.json_schema import WHOLE, array, closed
from webui.api.operation import Schema

_CLAUSE = closed(
    field={"anyOf": [{"enum": [TEXT, *(field.name for field in FIELDS)]}, {"pattern": "^meta[.]."}]},
    form={"enum": list(get_args(Form))},
    text={"type": "string", "description": "without sign, field, quotes and star"},
)
_PLACE: dict[str, Schema] = {
    "start": {**WHOLE, "description": "where it begins, in code points of the query"},
    "end": WHOLE,
}
_COUNT: Schema = {"type": ["integer", "null"], "minimum": 0}
QUERY = closed(
    groups=array(
        closed(
            reading={"enum": list(get_args(Reading))},
            **_PLACE,
            clauses={**array(_CLAUSE), "description": "of a required group, the alternatives"},
            reason={"type": ["string", "null"], "description": "why the group is ignored"},
        )
    ),
    notes=array(closed(**_PLACE, message={"type": "string"})),
    all_words={**_COUNT, "description": "sentences with all words; null if none are ranked"},
    any_word={**_COUNT, "description": "sentences with any of the words; null if none are ranked"},
    suggestions=array(
        closed(
            word={"type": "string"},
            **_PLACE,
            alternatives=array(
                closed(
                    text={"type": "string"},
                    sentences={**WHOLE, "description": "how many have it"},
                    query={"type": "string", "description": "the query with it"},
                )
            ),
        )
    ),
    corrected={"type": ["string", "null"], "description": "the query with the best alternatives"},
)
