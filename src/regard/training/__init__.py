"""Training: the loop, and the parts that it calls."""
