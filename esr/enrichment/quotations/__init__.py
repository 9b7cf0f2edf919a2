"""Quotations in documents: their marks, their speakers, and the words of languages that show them."""
