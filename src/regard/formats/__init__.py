"""Documents that are translated and keep their shape: one file per format."""
