"""The second stage: signals that rescore the best sentences of a plan, and the order that they give."""
