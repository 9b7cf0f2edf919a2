"""Measures how often the certain and the probable speakers of quotations are right, on the news of the demo.

    python -m esr.loaders.example_news news.jsonl
    python benchmarks/studies/quotation_speakers.py news.jsonl

`quotation_speakers.csv` has the judgements, made on 2026-11-29 by reading each quotation with the sentences
around it. A name is wrong if somebody else speaks, if the words are no quotation, or if it is no name that
can be printed ("Utah Republican", "Staff Reince Priebus"). Five that remained unclear were left out.

`seed` says which draw a quotation is from: `random.Random(seed).sample` of the quotations with a name, in
the order of the documents: 63, 400 of all; 64, 200 of the certain ones; 65, 130 of the certain ones; 66 and
67, 270 and 400 of the certain ones that no earlier draw has. The rules were corrected after 63, 64 and 66 and
not after 67, which alone is a fair sample. Before that, seed 66 had .970 right. In 66 and 67 the speaker was
written down from a text without the name that was found, except where the sentences around the quotation do
not tell (12 and 14). A first or last name alone is right; a sentence in which a speaker quotes only somebody
else is wrong. A quotation whose speaker is now another name is counted apart, since nobody has judged it.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from pathlib import Path

from esr.enrichment.quotations.quotes import find_quotes
from esr.text.document import CERTAIN, PROBABLE, Quote
from esr.text.validate import build_document

_LABELS = Path(__file__).with_suffix(".csv")


def read_quotes(path: Path) -> dict[tuple[str, int], Quote]:
    """The quotations with a name, by sentence and start."""
    found = {}
    for line in path.read_text("utf-8").splitlines():
        document = build_document(json.loads(line))
        for sentence, quotes in zip(document.sentences, find_quotes(document, "en"), strict=True):
            found.update({(sentence.id, quote.start): quote for quote in quotes if quote.name})
    return found


def measure(path: Path) -> list[str]:
    """The lines of the report."""
    quotes = read_quotes(path)
    certain = sum(quote.certainty == CERTAIN for quote in quotes.values())
    lines = [f"{len(quotes):,} quotations with a name, {certain / len(quotes):.3f} of them certain"]
    judged: dict[tuple[str, str], Counter[str]] = {}
    with _LABELS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            quote = quotes.get((row["sentence_id"], int(row["start"])))
            is_same = quote is not None and (quote.name or "").split()[-1:] == row["name"].split()[-1:]
            is_judged = is_same and (row["judgement"] == "right" or quote.name == row["name"])  # type: ignore[union-attr]
            if quote is not None:
                counts = judged.setdefault((row["seed"], quote.certainty or ""), Counter())
                counts[row["judgement"] if is_judged else "not judged"] += 1
    for (seed, certainty), counts in sorted(judged.items()):
        of = counts["right"] + counts["wrong"]
        lines.append(
            f"seed {seed}, {certainty}: {counts['right'] / of:.3f} right of {of} judged, "
            f"{counts['not judged']} with another name now"
        )
    for certainty in (CERTAIN, PROBABLE):
        total = sum((counts for (_, kind), counts in judged.items() if kind == certainty), Counter[str]())
        lines.append(f"all, {certainty}: {total['right'] / (total['right'] + total['wrong']):.3f} right")
    return lines


if __name__ == "__main__":
    print(*measure(Path(sys.argv[1])), sep="\n")
