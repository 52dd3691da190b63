"""Quality estimation: how likely a translation and each of its words are wrong, without a reference."""
