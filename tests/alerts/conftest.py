"""Desks on both databases."""

from __future__ import annotations

from tests.dossiers.conftest import postgresql, where

__all__ = ["postgresql", "where"]
