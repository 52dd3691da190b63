"""Labs: what decides a pronoun or the sense of a word, head by head."""
