"""log: the larger the value, the less one more adds."""

import math

from esr.adjustments.form import FERNANDEZ, WEIGHT, Form, register
from esr.parameter import Parameter

SHIFT = Parameter(
    "shift", "what I is raised by; 0 is for features above 0", 1.0, high=math.inf, open_high=True
)
LOG = register(
    Form("log", "w * log(shift + I); nothing where I is -shift or less", FERNANDEZ, "log", (WEIGHT, SHIFT))
)
