"""linear: adds the value itself, times a weight."""

from esr.adjustments.form import FERNANDEZ, WEIGHT, Form, register

LINEAR = register(Form("linear", "w * I", FERNANDEZ, "linear", (WEIGHT,)))
