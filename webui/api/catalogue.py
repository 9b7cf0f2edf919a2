"""`models`: what a ranking can be made of, from the registries."""

from __future__ import annotations

from typing import Any

from esr import adjustments, boosts, models, priors
from esr.dependency.signals import SIGNALS
from esr.features import FEATURES
from esr.plans.plan import CANDIDATES
from webui.api.operation import Call


def catalogue(call: Call) -> dict[str, Any]:
    return {
        "default": models.DEFAULT.name,
        "models": [model.as_dict() for model in models.MODELS.values()],
        "contexts": dict(models.CONTEXTS),
        "candidates": dict(CANDIDATES),
        "priors": [prior.as_dict() for prior in priors.PRIORS.values()],
        "features": [feature.as_dict() for feature in FEATURES.values()],
        "forms": [form.as_dict() for form in adjustments.FORMS.values()],
        "boosts": [boost.as_dict() for boost in boosts.BOOSTS.values()],
        "signals": [signal.as_dict() for signal in SIGNALS.values()],
    }
