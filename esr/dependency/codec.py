"""A parse as bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence

from esr.analysis import Analyzer
from esr.documents import ParseWord


def encode(parse: Sequence[ParseWord], analyzer: Analyzer) -> bytes:
    """Heads, and the terms of each word."""
    return json.dumps([[word.head, analyzer.terms(word.word)] for word in parse]).encode()
