"""Exports trained models to the formats of other programs, listed in `table.py`; `bundle/` imports such models."""
