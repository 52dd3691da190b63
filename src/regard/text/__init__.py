"""Text processing: tokenization, sentences, protected spans, normalization and languages."""
