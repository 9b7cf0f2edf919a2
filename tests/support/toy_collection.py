"""A synthetic collection with queries, small enough for a benchmark of seconds."""

from __future__ import annotations

import json
import random
from pathlib import Path

WORDS = [f"{first}{second}" for first in "bdfgklmnprstvz" for second in ("ako", "emi", "oru", "uda", "iba")]


def write(folder: Path, documents: int = 80) -> tuple[Path, Path]:
    """Paths of the documents and of the queries."""
    chance = random.Random(5)
    source, queries = folder / "documents.jsonl", folder / "queries.tsv"
    with source.open("w", encoding="utf-8") as file:
        for number in range(documents):
            texts = [_sentence(chance) for _ in range(chance.randint(1, 9))]
            fields = {"id": f"d{number}", "title": _sentence(chance), "date": "2026-01-02", "source": "toy"}
            file.write(json.dumps({**fields, "sentences": [{"text": text} for text in texts]}) + "\n")
    lines = (f"q{number}\t{' '.join(chance.sample(WORDS, 3))}\n" for number in range(60))
    queries.write_text("".join(lines), "utf-8")
    return source, queries


def _sentence(chance: random.Random) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(3, 12)))
