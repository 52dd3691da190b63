"""What teaches: the embedded grammar, the notes' claims, the labs, positions, the cost of layers, and the demo."""
