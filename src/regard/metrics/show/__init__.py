"""Scores, their working and their comparison, as a person reads them: in a terminal or as an HTML page."""
