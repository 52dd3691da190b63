"""Rule-based translation: a parser for the embedded grammar's English; an upper bound on the embedded corpus."""
