"""What lies in an index folder: segments, layers, the manifest that names them, a load's checkpoint."""
