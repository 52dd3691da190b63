"""Translation by rules: the embedded grammar, read backwards. The upper bound on the embedded corpus."""
