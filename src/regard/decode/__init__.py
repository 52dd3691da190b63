"""From a model to translations: search strategies over the contract's `step`, and text in, text out."""
