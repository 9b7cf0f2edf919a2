"""The hash by which names and terms are looked up, which is stable across machines and processes."""

from __future__ import annotations

try:
    # Equal to hashlib's, without loading OpenSSL, which takes 3 ms of each search from the command line.
    from _blake2 import blake2b
except ImportError:  # other implementations than CPython
    from hashlib import blake2b

__all__ = ["blake2b", "hash64"]


def hash64(string: str) -> int:
    """A 64-bit hash that is stable across machines and processes."""
    # Surrogates may stand for bytes of the command line that are not UTF-8.
    code = string.encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(code, digest_size=8).digest(), "little")
