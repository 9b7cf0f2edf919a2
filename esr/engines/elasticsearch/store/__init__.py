"""What the indices hold, and what is known of them."""
