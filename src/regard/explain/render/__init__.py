"""Explanations in every form: terminal, page, picture and data."""
