"""Learning to rank: from signals of candidates and judgements to a ranking file."""
