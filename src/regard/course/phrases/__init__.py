"""Phrase-based statistical translation: phrases, a 5-gram model, stack decoding, tune_weights weights."""
