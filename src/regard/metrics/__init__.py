"""Scores of translations: BLEU, chrF, TER and GLEU, with signatures, significance and explanations."""
