"""step: only whether there is any of it counts."""

from esr.adjustments.form import FERNANDEZ, WEIGHT, Form, register

STEP = register(Form("step", "w if I > 0, else 0", FERNANDEZ, "step", (WEIGHT,)))
