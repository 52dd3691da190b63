"""Positional encodings, compared and drawn."""
