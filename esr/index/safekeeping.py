"""What is found and done for the safety of an index: damage by `esr verify`, copies by `esr backup` and
`esr restore`.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from esr.index.generations import KEPT, LOAD_OVER, SERVING, Generation


class Damaged(Struct, frozen=True):
    """A damaged part of an index, and the generations that it belongs to; none for what all of them need."""

    path: str
    problem: str
    generations: tuple[str, ...] = ()


class Verification(Struct, frozen=True):
    """The result of a verification.

    `is_fast`: only sizes and times were compared, and small files were read. `unknown` are parts without
    checksums, which older versions have written. `advice` says what to do.
    """

    files: int
    size_bytes: int
    is_fast: bool
    damaged: tuple[Damaged, ...] = ()
    unknown: tuple[str, ...] = ()
    advice: str = ""
    seconds: float = 0.0


class CopyReport(Struct, frozen=True):
    """What a backup or its restoring has done: bytes by the way they came, and what the copy serves."""

    documents: int
    sentences: int
    generations: int
    copied_bytes: int = 0
    linked_bytes: int = 0
    present_bytes: int = 0
    seconds: float = 0.0


def verify_generations(generations: Sequence[Generation]) -> Verification:
    """The result for an engine that compares the checksums of its files itself: missing parts are damage."""
    damaged = [
        Damaged(part, "it is missing", (generation.name,))
        for generation in generations
        for part in generation.missing
    ]
    damaged += [
        Damaged(generation.name, "not all of its shards are open", (generation.name,))
        for generation in generations
        if generation.state in (SERVING, KEPT) and not generation.missing and generation.documents is None
    ]
    size = sum(generation.size_bytes or 0 for generation in generations)
    advice = f"esr indices shows the generations: go back with esr rollback, or {LOAD_OVER}"
    return Verification(0, size, True, tuple(damaged), advice=advice if damaged else "")
