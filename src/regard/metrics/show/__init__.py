"""Scores, the steps of a BLEU score, and comparisons of systems, as text for a terminal and as HTML."""
