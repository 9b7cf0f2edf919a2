"""Explanations of scores: parts that add up to the score of a sentence."""
