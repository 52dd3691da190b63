"""Parallel text: the embedded corpus, files, encoding and batches."""
