"""Renderers of explanations: terminal, HTML page, image and JSON."""
