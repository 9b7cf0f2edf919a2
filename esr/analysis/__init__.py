"""Turns text into terms, the same in Python and in Elasticsearch."""

from esr.analysis.analyzer import Analyzer, Token, get
from esr.analysis.definitions import DEFAULT, all_definitions

__all__ = ["DEFAULT", "Analyzer", "Token", "all_definitions", "get"]
