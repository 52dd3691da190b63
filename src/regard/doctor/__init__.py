"""What is wrong with a corpus or a recipe, and what a run will cost, before the run."""
