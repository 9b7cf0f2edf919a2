"""The files of an index folder: segments, layers, the manifest that lists them, the checkpoint of a load."""
