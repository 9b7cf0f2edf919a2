"""Features: numbers of a sentence that depend on no query."""

# Registers them, in the order in which lists show them.
from esr.features import subjectivity, shape, furniture  # noqa: F401 isort: skip
from esr.features.feature import FEATURES, NEEDS, RULES, Feature, get

__all__ = ["FEATURES", "NEEDS", "RULES", "Feature", "get"]
