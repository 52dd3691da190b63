"""How good a translation is: BLEU with its working and its signature."""
