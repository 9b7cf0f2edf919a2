"""Features: numbers of a sentence that depend on no query."""

# These imports register the features, in the order of lists.
from esr.features import subjectivity, shape, furniture  # noqa: F401 isort: skip
from esr.features.feature import FEATURES, NEEDS, RULES, Feature, get

__all__ = ["FEATURES", "NEEDS", "RULES", "Feature", "get"]
