"""satu: saturation, which adds at most its weight."""

from esr.adjustments.form import CRASWELL, HALFWAY, WEIGHT, Form, register

SATU = register(
    Form("satu", "w * I / (k + I); a negative I counts as 0", CRASWELL, "satu", (WEIGHT, HALFWAY))
)
