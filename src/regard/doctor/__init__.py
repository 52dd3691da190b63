"""Checks a corpus and a recipe for problems, and predicts the cost of a run, before the run."""
