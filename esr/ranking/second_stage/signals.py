"""Signals in a ranking: a signal type with its weight and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import Struct, field
from msgspec.structs import force_setattr, replace

from esr.errors import UsageError
from esr.index.similarities import mean_known
from esr.plans.evaluate import Array
from esr.ranking.second_stage.cross_encoder_signal import CROSS, CROSS_TEXT
from esr.ranking.second_stage.rerank_context import RerankContext
from esr.ranking.second_stage.signal_types import SignalType, find_signal_type
from esr.registry import Parameter, Value, check_parameters, parse_values

Positions = npt.NDArray[np.intp]


class RankingSignal(Struct, frozen=True):
    """A signal in a ranking, with its parameters; those missing from `params` have their defaults.

    Some defaults may depend on the query: `for_query` fills them in. Until then they are those for no text.

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
        return check_parameters(self.signal, self.parameters, self._params_for(""))

    def for_query(self, text: str, encoder: str = "") -> RankingSignal:
        """The signal with the defaults for a query's text and an encoder. Parameters that are given stay."""
        return replace(self, params=self._params_for(text, encoder)) if self.type.choose_defaults else self

    def _params_for(self, text: str, encoder: str = "") -> Mapping[str, Any]:
        choose = self.type.choose_defaults
        return {**choose(self.params, text, encoder), **self.params} if choose else self.params

    def values(self, context: RerankContext) -> Array:
        """The unweighted signal of each sentence, of shape (n,), NaN where it has no value."""
        return self.type.compute(context, self.settings())

    def adds(
        self, context: RerankContext, top: Positions | None = None, by_words: Positions | None = None
    ) -> Array:
        """The weighted signal of the sentences at positions `top`, or of all, of shape (m,).

        A sentence without a value gets 0 or, for signals that use vectors, the mean of the known values. The
        mean is over the positions `by_words` if any value is known there, since the nearest sentences by
        vector would raise it.
        """
        all_values = self.values(context)
        values, missing = all_values if top is None else all_values[top], 0.0
        if self.type.uses_vectors:
            others = values if by_words is None else all_values[by_words]
            missing = mean_known(others if np.isfinite(others).any() else values)
        return self.weight * np.nan_to_num(values, nan=missing)

    def as_dict(self) -> dict[str, Any]:
        """As in a ranking file, with every default filled in that does not depend on the query."""
        choose, settings = self.type.choose_defaults, self.settings()
        chosen = choose(self.params, "", "") if choose else {}
        return {"signal": self.signal} | {
            name: value for name, value in settings.items() if name in self.params or name not in chosen
        }


def signal_from_dict(data: Any) -> RankingSignal:
    """Read a signal from JSON: `{"signal": "sdm", "w": 0.5, "alpha": 0.3}`."""
    if not isinstance(data, Mapping) or not isinstance(data.get("signal"), str):
        raise UsageError(
            f'a signal must be a JSON object such as {{"signal": "tdsr", "w": 0.5}}, not {data!r}'
        )
    return RankingSignal(data["signal"], {key: value for key, value in data.items() if key != "signal"})


def parse_signal(text: str) -> RankingSignal:
    """Read a signal, `NAME[:WEIGHT][:PARAMETER=VALUE...]`, such as `sdm:0.5` or `tdsr:1:alpha=0.3`."""
    if match := CROSS_TEXT.fullmatch(text):
        name, rest = f"{CROSS} {match['model']}", match["rest"]
        parts = rest.split(":") if rest else []
    else:
        name, *parts = text.split(":")
    return RankingSignal(name, parse_values("--rerank", text, parts))
