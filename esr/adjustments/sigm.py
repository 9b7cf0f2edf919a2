"""sigm: a saturation with a slow start."""

import math

from esr.adjustments.form import CRASWELL, HALFWAY, WEIGHT, Form, register
from esr.parameter import Parameter

STEEPNESS = Parameter("a", "steepness", 1.0, high=math.inf, open_low=True, open_high=True)
SIGM = register(
    Form(
        "sigm",
        "w * I^a / (k^a + I^a); a negative I counts as 0",
        CRASWELL,
        "sigm",
        (WEIGHT, HALFWAY, STEEPNESS),
    )
)
