"""The files of an index folder: segments, layers, the manifest that lists them, and the checkpoint of a load."""
