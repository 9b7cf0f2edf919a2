"""The signal `cross`: the score of a cross-encoder for the query and a sentence."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from esr.errors import UsageError
from esr.ranking.second_stage.query_encoder import CROSS_VARIABLE
from esr.registry import Parameter
from esr.stdlib import import_lazily

if TYPE_CHECKING:
    from esr import encoders
else:
    encoders = import_lazily("esr.encoders")

CROSS = "cross"
CROSS_DEPTH = Parameter(
    "depth", "number of the best sentences that it reads", 50, low=1, high=1000, integer=True
)
SECONDS = Parameter(
    "seconds",
    "time limit of reading; sentences not read in time keep their order",
    5.0,
    high=600.0,
    open_low=True,
)
CROSS_TEXT = re.compile(
    rf"{CROSS}[: ](?P<model>https?://(?:\[[^\]]*\]|[^/:]*)(?::\d+)?(?:/[^:]*)?|hf:[^:]*|(?![^:]*=|[\d.+-]+(?::|$))[^:]+)"
    r"(?::(?P<rest>.*))?"
)
"""Text of a signal `cross`. A model is an address, a hub name or a folder, not a weight or a parameter."""


def cross_scores(
    model: str, query: str, texts: Sequence[str], seconds: float = math.inf
) -> npt.NDArray[np.float64]:
    """The scores of a cross-encoder, of shape (n,), NaN for texts it had no time for. Raises EsrError.

    An empty `model` stands for the one of the environment.
    """
    if not texts:
        return np.zeros(0)
    name = model or os.environ.get(CROSS_VARIABLE)
    if not name:
        raise UsageError(
            f"the signal {CROSS} needs a cross-encoder: write {CROSS}:MODEL, or set {CROSS_VARIABLE}"
        )
    return encoders.load_cross_encoder(name).scores(query, texts, seconds)
