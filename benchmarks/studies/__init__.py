"""Studies that were run once. The pages of docs have their figures and commands."""
