"""Translation models, one file per architecture, all on the contract of `base.py`."""
