"""Scores, their working and their comparison, as text for a terminal and as HTML."""
