"""What an index folder holds on disk: segments, layers, and the commit that names them."""
