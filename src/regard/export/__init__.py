"""A trained model in the formats of other programs. `table.py` lists them; reading such a model is `bundle/`'s task."""
