"""Phrase-based statistical translation: phrases, a 5-gram model, stack decoding, tuning of weights."""
