"""Comparison and drawings of positional encodings."""
