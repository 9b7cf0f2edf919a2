"""Adjustments: what a feature of a sentence, a number that depends on no query, adds to its score.

Fernández & Losada 2012; docs/formulas.md, section B.
"""

from esr.adjustments import floe, indep, linear, log, satu, sigm, step  # noqa: F401  registers them
from esr.adjustments.adjustment import Adjustment, feature_column, from_dict, parse
from esr.adjustments.form import FORMS, Form, get

__all__ = ["FORMS", "Adjustment", "Form", "feature_column", "from_dict", "get", "parse"]
