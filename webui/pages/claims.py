"""The page of a claim: what says so, what says otherwise, and what is near it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from flask import Flask, Response, request

from esr.evidence.choices import EVIDENCE_ORDERS
from esr.evidence.claim_evidence import GROUPS, ClaimEvidence, EvidenceSentence
from esr.evidence.contrast import RULES, Contrast
from webui.answers.claims import read_evidence
from webui.answers.downloads import table_csv
from webui.arguments.links import split_links
from webui.arguments.request import decode_arguments
from webui.pages.rendering import PageRenderer
from webui.running.problems import RequestError, wants_json
from webui.running.served_indexes import Route, ServedIndexes, Visit
from webui.running.settings import Settings
from webui.translations.language import N_, _, as_sentence

EMPTY_GROUPS = {
    "says_so": N_("No text was found that says so."),
    "says_otherwise": N_("No rule found a text that says otherwise."),
    "near": N_("Nothing else is near it."),
}
"""What the page says of a group without texts."""
LACKED = {
    "number": N_("a number that the claim lacks"),
    "date": N_("a date that the claim lacks"),
    "name": N_("a name that the claim lacks"),
}
"""What the page says of a part of a sentence that a claim has not."""
OTHER_LACKED = N_("a part that the claim lacks")


SUPPORTS, CONTRADICTS = (
    N_("%(model)s: rather supports it (%(number)s)"),
    N_("%(model)s: rather contradicts it (%(number)s)"),
)
"""What a model of entailment says of a text."""


class Piece(NamedTuple):
    """A piece of a sentence. `kind` is "contrast", "part", or empty; `title` says what it differs from."""

    text: str
    kind: str = ""
    title: str = ""


def install(app: Flask, indexes: ServedIndexes, settings: Settings, render: PageRenderer) -> None:
    """Add the page, its table, and its template functions to the application."""
    app.jinja_env.globals.update(
        split_evidence=split_evidence,
        use_contrast=use_contrast,
        describe_contrast=describe_contrast,
        describe_opinion=describe_opinion,
        evidence_groups=GROUPS,
        evidence_orders=EVIDENCE_ORDERS,
        empty_groups=EMPTY_GROUPS,
    )
    _add_evidence(partial(indexes.route, app), settings, render)


def _add_evidence(get: Route, settings: Settings, render: PageRenderer) -> None:
    @get("/evidence")
    def evidence(visit: Visit) -> Response:
        arguments = decode_arguments(request.query_string, settings, "evidence", "page")
        page_links, others = split_links(request.query_string, settings, "evidence", "sort")
        claim, evidence_found, message = arguments.first("q"), None, None
        try:
            evidence_found = read_evidence(visit.searcher, arguments, settings) if claim else None
        except RequestError as error:
            if error.field != "q" or wants_json():
                raise
            message = as_sentence(str(error))
        response = render(
            visit,
            "evidence.html",
            claim=claim,
            found=evidence_found,
            message=message,
            order=arguments.value("order"),
            own=page_links,
            others=others,
        )
        response.status_code = 400 if message else 200
        return response

    @get("/evidence.csv")
    def evidence_csv(visit: Visit) -> Response:
        arguments = decode_arguments(request.query_string, settings, "evidence", "page")
        evidence = read_evidence(visit.searcher, arguments, settings)
        return table_csv(evidence.rows(), "evidence", columns=tuple(evidence.columns()))


def use_contrast(claim: str, contrast: Contrast) -> str | None:
    """The claim with the words of a sentence in place of its number, date or name; None for other rules."""
    if contrast.rule not in ("number", "date", "name") or claim.count(contrast.claimed or " ") != 1:
        return None
    return claim.replace(contrast.claimed, contrast.text)


def describe_contrast(contrast: Contrast) -> str:
    """A contrast in a few words: the rule, and the words of the claim that it is about."""
    rule = _(RULES[contrast.rule])
    if not contrast.claimed:
        return rule
    return _("%(rule)s; the claim has “%(words)s”", rule=rule, words=contrast.claimed)


def describe_opinion(evidence: ClaimEvidence, text: EvidenceSentence) -> str:
    """What the cross-encoder says of a text, with its name and its number."""
    number = f"{text.opinion:+.1f}"
    if not (evidence.is_entailment and text.opinion):
        return f"{evidence.opinion_by}: {number}"
    return _(SUPPORTS if text.opinion > 0 else CONTRADICTS, model=evidence.opinion_by, number=number)


def split_evidence(text: EvidenceSentence) -> Iterator[Piece]:
    """The sentence in pieces, with those that differ from the claim marked."""
    spans = [
        (contrast.start, contrast.end, "contrast", describe_contrast(contrast)) for contrast in text.contrasts
    ]
    spans += [
        (difference.start, difference.end, "part", _(LACKED.get(difference.kind, OTHER_LACKED)))
        for difference in text.differences
    ]
    at = 0
    for start, end, kind, title in sorted(spans, key=lambda span: (span[0], span[2])):
        if start < at:
            continue
        if start > at:
            yield Piece(text.text[at:start])
        yield Piece(text.text[start:end], kind, title)
        at = end
    if at < len(text.text):
        yield Piece(text.text[at:])
