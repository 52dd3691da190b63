"""The course: embedded grammar, rule-based translation, the notes' claims, labs, positions, cost of layers, demo."""
