"""Translation: text in, checked text out. Units, preparation, search, checks, confidence, assembly."""
