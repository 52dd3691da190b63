"""The cost of layers as sentences grow: counted, timed and fitted."""
