"""What neural translation is measured against: alignment by counting, word-for-word translation, hand-made rules."""
