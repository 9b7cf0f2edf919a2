"""Experiments on topics with judgements: runs, measures, tuning, learning, reports; capacity estimates."""
