"""The arguments of searches that are made of what rankings, lists and corpora have."""
