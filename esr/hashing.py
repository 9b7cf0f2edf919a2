"""The hash by which names and terms are looked up: the same on every machine and in every process."""

from __future__ import annotations

import hashlib


def hash64(string: str) -> int:
    """64 bits that are the same on every machine and in every process."""
    # A query from the command line may hold bytes that are not UTF-8, as surrogates.
    code = string.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(code, digest_size=8).digest(), "little")
