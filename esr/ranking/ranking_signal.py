"""A signal in a ranking: what the second stage adds to the best sentences of the first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field
from msgspec.structs import force_setattr

from esr.engines.similarities import mean_known
from esr.errors import UsageError
from esr.parameter import Parameter, Value, check_parameters, parse_values
from esr.plans.evidence import Array
from esr.ranking.rerank_context import RerankContext
from esr.ranking.signal_types import SignalType, find_signal_type

Positions = npt.NDArray[np.intp]


class RankingSignal(Struct, frozen=True):
    """A signal and its parameters; those missing from `params` have their defaults.

    Raises UsageError for an unknown signal or parameter, with the nearest name, or a value out of range.
    """

    signal: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        force_setattr(self, "signal", self.type.name)
        self.settings()

    @property
    def type(self) -> SignalType:
        return find_signal_type(self.signal)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        return (self.type.weight, *self.type.parameters)

    @property
    def weight(self) -> float:
        return float(self.settings()["w"])

    def settings(self) -> dict[str, Value]:
        """All parameters, defaults filled in."""
        return check_parameters(self.signal, self.parameters, self.params)

    def values(self, context: RerankContext) -> Array:
        """The signal of each sentence before its weight, of shape (n,). NaN where it has no value."""
        return self.type.compute(context, self.settings())

    def adds(
        self, context: RerankContext, top: Positions | None = None, by_words: Positions | None = None
    ) -> Array:
        """What the signal adds to the sentences at the positions `top`, or to all, of shape (m,).

        Where it has no value, it adds nothing, or what it adds to the others on average: to those at the
        positions `by_words`, if any of them has a value, since the nearest sentences are nearer than most.
        """
        all_values = self.values(context)
        values, missing = all_values if top is None else all_values[top], 0.0
        if self.type.uses_vectors:
            others = values if by_words is None else all_values[by_words]
            missing = mean_known(others if np.isfinite(others).any() else values)
        return self.weight * np.nan_to_num(values, nan=missing)

    def as_dict(self) -> dict[str, Any]:
        """As in a ranking file, with every default filled in."""
        return {"signal": self.signal, **self.settings()}


def from_dict(data: Any) -> RankingSignal:
    """From JSON: `{"signal": "sdm", "w": 0.5, "alpha": 0.3}`."""
    if not isinstance(data, Mapping) or not isinstance(data.get("signal"), str):
        raise UsageError(
            f'a signal must be a JSON object such as {{"signal": "tdsr", "w": 0.5}}, not {data!r}'
        )
    return RankingSignal(data["signal"], {key: value for key, value in data.items() if key != "signal"})


def parse(text: str) -> RankingSignal:
    """From `NAME[:WEIGHT][:PARAMETER=VALUE...]`, as `sdm:0.5` or `tdsr:1:alpha=0.3`."""
    name, *parts = text.split(":")
    return RankingSignal(name, parse_values("--rerank", text, parts))
