"""linear: a feature counts as it stands."""

from esr.adjustments.form import FERNANDEZ, WEIGHT, Form, register

LINEAR = register(Form("linear", "w * I", FERNANDEZ, "linear", (WEIGHT,)))
