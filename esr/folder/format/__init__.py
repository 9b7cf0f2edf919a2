"""What an index folder holds: segments, layers, the manifest that names them, the checkpoint of a load."""
