"""Phrases for people."""

from __future__ import annotations


def count(number: int, noun: str) -> str:
    """A number with its noun: 1 sentence, 2,310 sentences."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
