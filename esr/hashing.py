"""The hash by which names and terms are looked up: the same on every machine and in every process."""

from __future__ import annotations

try:
    # The same as hashlib's, which also loads OpenSSL: 3 ms of each search from the command line.
    from _blake2 import blake2b
except ImportError:  # not CPython
    from hashlib import blake2b

__all__ = ["blake2b", "hash64"]


def hash64(string: str) -> int:
    """A 64-bit hash that is the same on every machine and in every process."""
    # A query from the command line may contain bytes that are not UTF-8, as surrogates.
    code = string.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(code, digest_size=8).digest(), "little")
