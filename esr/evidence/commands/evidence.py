"""The command `esr evidence`."""

from __future__ import annotations

from collections.abc import Iterator

import click

from esr.evidence.claim_evidence import (
    GROUPS,
    ClaimEvidence,
    EvidenceSentence,
    find_evidence,
    open_opinion,
)
from esr.evidence.contrast import RULES, Contrast
from esr.plugin import index_option
from esr.plugin.provisional import (
    TABLE,
    ArgumentRow,
    Filters,
    add_arguments,
    build_option,
    count,
    data_format_option,
    filter_options,
    note_unknown,
    open_searcher,
    print_answer,
)

_CROSS_ENCODER = ArgumentRow(
    "cross_encoder",
    "also show what this cross-encoder says: hf:OWNER/NAME, an address, or a folder; by default that of "
    "ESR_ENTAILMENT",
    metavar="MODEL",
)


@click.command()
@add_arguments(TABLE, "evidence", "q")
@index_option
@add_arguments(TABLE, "evidence", "k", "order")
@build_option(_CROSS_ENCODER)
@data_format_option("text", "json", "csv", help="Print text for people, json or csv for programs.")
@filter_options
def evidence(
    claim: str,
    where: str,
    k: int,
    order: str,
    cross_encoder: str | None,
    format_name: str,
    filters: Filters,
) -> None:
    """Show what says CLAIM, what says otherwise, and what is near.

    Copies are folded into the text that appeared first. Each text that says otherwise has the rule that found
    it, such as a negation or another number. esr shows evidence, and no verdict.

    \b
    Example:
      esr evidence "Michael Flynn did not discuss sanctions" --index my-index
      esr evidence "the travel ban affects seven countries" --order oldest --format json --index my-index
    """
    with open_searcher(where) as searcher:
        claim_evidence = find_evidence(
            searcher, claim, filters, k=k, order=order, opinion=open_opinion(cross_encoder)
        )
        note_unknown(searcher, filters)
    print_answer(
        format_name,
        claim_evidence.as_dict(),
        claim_evidence.rows(),
        lambda: "\n".join(_draw(claim_evidence)),
        claim_evidence.columns(),
    )


def _draw(evidence: ClaimEvidence) -> Iterator[str]:
    for name, texts in evidence.groups().items():
        if texts:
            yield click.style(f"{GROUPS[name]} ({count(len(texts), 'text')})", bold=True)
        for text in texts:
            yield from _draw_text(text, evidence)
        if texts:
            yield ""
    if evidence.texts:
        sources = count(evidence.sources, "source")
        yield f"{count(evidence.sentences, 'sentence')}, {count(evidence.texts, 'text')} of {sources}"
    else:
        yield "Nothing near the claim was found."
    if evidence.unseen:
        yield f"no document has the words: {', '.join(evidence.unseen)}"
    if evidence.no_meaning:
        yield f"found by words alone: {evidence.no_meaning}"


def _draw_text(text: EvidenceSentence, evidence: ClaimEvidence) -> Iterator[str]:
    place = ", ".join(filter(None, (text.source, (text.date or "")[:10], text.sentence_id)))
    yield f"  {text.text}"
    speaker = f", {'probably ' if text.certainty == 'probable' else ''}{text.speaker}" if text.speaker else ""
    yield click.style(f"    {place}{speaker}", dim=True)
    if text.opinion is not None:
        says = ""
        if evidence.is_entailment and text.opinion:
            says = "rather supports it, " if text.opinion > 0 else "rather contradicts it, "
        yield f"    {evidence.opinion_by}: {says}{text.opinion:+.2f}"
    for contrast in text.contrasts:
        yield f"    {describe_contrast(contrast)}"
    for copy in text.copies:
        place = ", ".join(filter(None, (copy.source, (copy.date or "")[:10], copy.sentence_id)))
        yield click.style(f"    also {place}", dim=True)


def describe_contrast(contrast: Contrast) -> str:
    """A contrast in a line: its rule, and the words of the sentence and of the claim."""
    claimed = f"; the claim has “{contrast.claimed}”" if contrast.claimed else ""
    return f"{contrast.rule}: “{contrast.text}”, {RULES[contrast.rule]}{claimed}"
