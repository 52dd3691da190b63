"""A translator behind HTTP: the interfaces of two public services, our own, and a page."""
