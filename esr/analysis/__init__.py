"""Turns text into terms, the same in Python and in Elasticsearch."""

from esr.analysis.analyzer import ANALYZERS, Analyzer, get

__all__ = ["ANALYZERS", "Analyzer", "get"]
