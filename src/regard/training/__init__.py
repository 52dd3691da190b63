"""Training: one page of loop, and beside it what the loop calls."""
