"""Numbers in JSON, which has neither infinities nor NaN."""

from __future__ import annotations

import math
from typing import Any


def replace_nonfinite(data: Any) -> Any:
    """The same data, with null in place of numbers that JSON does not have."""
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, dict):
        return {name: replace_nonfinite(value) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [replace_nonfinite(value) for value in data]
    return data
