"""The hash that names and terms are found by: the same on every machine and in every process."""

from __future__ import annotations

import hashlib


def hash64(string: str) -> int:
    """64 bits that are the same on every machine and in every process."""
    # What is asked for may hold bytes that are no UTF-8, as the command line passes them on.
    code = string.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(code, digest_size=8).digest(), "little")
