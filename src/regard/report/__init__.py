"""Presentation of results: tables, HTML pages, charts, drawings, and the files they are written to."""
