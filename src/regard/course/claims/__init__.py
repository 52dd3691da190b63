"""The course notes' claims, each tested by a small experiment of its own on the embedded corpus (docs/claims.md)."""
