"""Translation models, one file per architecture, all with the interface of `base.py`."""
