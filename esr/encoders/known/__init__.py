"""The encoders that esr knows by name: one description a file, in the form of `encoder.json`."""

from __future__ import annotations

import json
from pathlib import Path

from esr.encoders.description import EncoderDescription

DEFAULT = "bge-small-en-v1.5"


def _read_known() -> dict[str, EncoderDescription]:
    paths = sorted(Path(__file__).parent.glob("*.json"))
    return {
        path.stem: EncoderDescription.from_dict(json.loads(path.read_text("utf-8")), path.name)
        for path in paths
    }


KNOWN = _read_known()
"""By name."""
