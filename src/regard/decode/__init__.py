"""From a model to translations: greedy and beam search over the contract's `step`, and text in, text out."""
