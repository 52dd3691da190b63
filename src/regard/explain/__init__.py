"""What a model looked at while translating, how to show it, and how far to trust it."""
