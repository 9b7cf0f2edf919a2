"""Turns text into terms, the same in Python and in Elasticsearch."""

from esr.analysis.analyzer import Analyzer, TermToken, get
from esr.analysis.definitions import DEFAULT, all_definitions

__all__ = ["DEFAULT", "Analyzer", "TermToken", "all_definitions", "get"]
