"""step: adds the weight where the value is above 0."""

from esr.adjustments.form import FERNANDEZ, WEIGHT, Form, register

STEP = register(Form("step", "w if I > 0, else 0", FERNANDEZ, "step", (WEIGHT,)))
