"""Reports of evaluations: self-contained HTML pages of tables and pictures.

Each picture has one function that computes its data and one that draws it.
"""
