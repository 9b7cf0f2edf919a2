"""Studies that were made once. The pages of docs have their figures and the commands that gave them."""
