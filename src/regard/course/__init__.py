"""The course: the embedded grammar, the rules, the notes' claims, the labs, positions, the cost of layers, the demo."""
