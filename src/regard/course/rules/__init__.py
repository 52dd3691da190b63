"""Translation by rules: a parser for the embedded grammar's English. The upper bound on the embedded corpus."""
