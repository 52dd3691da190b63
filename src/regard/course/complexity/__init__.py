"""What a layer costs as sentences grow: counted, timed and fitted."""
