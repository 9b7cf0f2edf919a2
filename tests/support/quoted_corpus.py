"""A small corpus of quotations with speakers, from several sources."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from esr.text.document import CERTAIN, PROBABLE, Document, Quote
from tests.support.elasticsearch import document

MOMENT = "“This is an historic moment from which there can be no turning back,” said Theresa May."
LETTER = (
    "“A failure to reach agreement would mean our co-operation in the fight against crime and terrorism "
    "would be weakened,” she wrote."
)
SENTENCES = {
    "rte": ("rte.ie", "2017-03-30", [MOMENT, "The Taoiseach answered on the same day."]),
    "bbc": ("bbc.co.uk", "2017-03-29", ["Parliament was full.", MOMENT, "Then the House rose for lunch."]),
    "cnn": (
        "cnn.com",
        "2017-03-28",
        [
            "She called it an historic moment for which there can be no turning back.",
            LETTER,
            "“We will leave the single market.",
            "We want a new partnership with Europe.”",
        ],
    ),
    "dw": ("dw.com", "2017-03-31", ["Theresa May flew home on Friday.", "Prices rose 5 percent in Russia."]),
    "tass": ("tass.com", None, ["Wheat prices fell again in the south of the country on Monday."]),
}
QUOTES = {
    "rte": {0: Quote(0, 70, "Theresa May", "theresa may", "said", CERTAIN)},
    "bbc": {1: Quote(0, 70, "May", "theresa may", "said", PROBABLE)},
    "cnn": {1: Quote(0, 116, "she", None, "wrote", None)},
}


def make_documents() -> Iterator[Document]:
    for id, (source, date, texts) in SENTENCES.items():
        made = document(id, *texts, date=date, source=source)
        quoted = QUOTES.get(id, {})
        yield replace(
            made,
            sentences=tuple(
                replace(sentence, quotes=(quoted[n],) if n in quoted else ())
                for n, sentence in enumerate(made.sentences)
            ),
        )
