"""Phrase-based statistical translation: phrases, a 5-gram model, stack decoding, tuned weights."""
