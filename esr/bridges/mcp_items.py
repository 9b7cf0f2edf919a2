"""The items of answers that assistants get, each with its id, its exact text, a citation and its article.

So no title can pass for another source.
"""

from typing import Any

from mcp.types import CallToolResult

import esr
from esr.bridges.mcp_budget import fit, size
from esr.plugin.provisional import Article, cite, web_url


def describe_article(document_id: str, article: Article) -> dict[str, Any]:
    """The citation of an article and its known fields. An address that is not of the web is left out."""
    fields = {
        "title": article.title,
        "authors": list(article.authors),
        "date": article.date,
        "source": article.source,
        "url": web_url(article.url),
    }
    return {
        "citation": cite(document_id, article),
        **{name: value for name, value in fields.items() if value},
    }


def describe_hit(hit: esr.Hit, window: int) -> dict[str, Any]:
    """A hit as JSON data, with `window` sentences on each side."""
    texts = hit.window(window)
    at = min(hit.position, window)
    return {
        "id": hit.id,
        "text": hit.text,
        **describe_article(hit.document_id, hit),
        **{name: " ".join(of) for name, of in (("before", texts[:at]), ("after", texts[at + 1 :])) if of},
        "document_id": hit.document_id,
        **({"repeats": len(hit.folded)} if hit.folded else {}),
    }


def describe_quotation(quotation: esr.Quotation) -> dict[str, Any]:
    """A quotation as JSON data."""
    spoken = {"speaker": quotation.speaker, "name": quotation.name, "certainty": quotation.certainty}
    return {
        "id": quotation.sentence_id,
        "text": quotation.text,
        **{name: value for name, value in spoken.items() if value},
        **({} if quotation.all_words is None else {"all_words": quotation.all_words}),
        "sentence": quotation.sentence,
        **describe_article(quotation.document_id, _Quoted(quotation)),
        "document_id": quotation.document_id,
    }


def describe_evidence(group: str, text: esr.EvidenceSentence) -> dict[str, Any]:
    """A text about a claim as JSON data, with its group and the rules that tell it from the claim."""
    spoken = {"speaker": text.speaker, "certainty": text.certainty}
    contrasts = [
        {"rule": contrast.rule, "text": contrast.text, "claimed": contrast.claimed}
        for contrast in text.contrasts
    ]
    return {
        "group": group,
        "id": text.sentence_id,
        "text": text.text,
        **{name: value for name, value in spoken.items() if value},
        "contrasts": contrasts,
        "copies": len(text.copies),
        "sources": text.sources,
        **({} if text.opinion is None else {"opinion": round(text.opinion, 2)}),
        **describe_article(text.document_id, _Quoted(text)),
        "document_id": text.document_id,
    }


_LATER = 5
"""Later appearances of a quotation that are listed if there is room."""


def describe_checked(quotation: esr.CheckedQuotation, room: int) -> dict[str, Any]:
    """A checked quotation as JSON data, with the later or nearest appearances that `room` characters hold."""
    described: dict[str, Any] = {
        "text": quotation.text,
        "verdict": quotation.verdict,
        "speaker": quotation.speaker,
        "certainty": quotation.certainty,
        "first": _describe_appearance(quotation.first) if quotation.first else None,
        "later": [_describe_appearance(later) for later in quotation.later[:_LATER]],
        "differences": _describe_differences(quotation),
        "nearest": [_describe_appearance(nearest) for nearest in quotation.nearest],
    }
    for name in ("later", "nearest"):
        while described[name] and size(described) > room:
            described[name].pop()
    return described


def _describe_appearance(appearance: esr.Appearance) -> dict[str, Any]:
    names = ("sentence_id", "date", "source", "text", "verdict", "speaker", "certainty")
    described = {name: getattr(appearance, name) for name in names}
    return {**described, "differences": _describe_differences(appearance)}


def _describe_differences(compared: esr.CheckedQuotation | esr.Appearance) -> list[dict[str, str]]:
    return [{"text": difference.text, "original": difference.original} for difference in compared.differences]


def describe_sentence(sentence: esr.CheckedSentence) -> dict[str, Any]:
    """A sentence of a draft as JSON data, with its best evidence, and the numbers that this does not have."""
    best = sentence.evidence[0] if sentence.evidence else None
    return {
        "text": sentence.text,
        "evidence": {name: getattr(best, name) for name in _OF_EVIDENCE} if best else None,
        "numbers": [
            {
                "text": number.text,
                "verdict": number.verdict,
                "beside": [other.text for other in number.beside],
            }
            for number in sentence.numbers
        ],
    }


_OF_EVIDENCE = ("sentence_id", "date", "source", "text", "share")


class _Quoted:
    """The article of a quotation or a text, whose authors are unknown."""

    authors: tuple[str, ...] = ()

    def __init__(self, text: esr.Quotation | esr.EvidenceSentence) -> None:
        self.title, self.date = text.title, text.date
        self.source, self.url = text.source, text.url


def list_hits(hits: esr.Hits, window: int, budget: int) -> CallToolResult:
    """The hits that fit into the budget, the total, and a note on the query."""
    notes = [value.message for value in hits.unknown_filters]
    if hits.unseen:
        notes.append(f"no article has the words: {', '.join(hits.unseen)}")
    if hits.incomplete:
        notes.append(f"the answer is incomplete: {hits.incomplete}")
    head = {"total": hits.total, **({"note": "; ".join(notes)} if notes else {})}
    return fit(head, "hits", [describe_hit(hit, window) for hit in hits], budget)
