"""Word alignment by EM (IBM 1, HMM) and the word-based translator made of it."""
