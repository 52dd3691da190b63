"""Document formats: a document is translated and keeps its layout, one file per format."""
