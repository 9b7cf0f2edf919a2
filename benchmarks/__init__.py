"""Measurements of esr, and comparisons with other software: see README.md."""
