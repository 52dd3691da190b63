"""The web page: its static files, their routes, and the page as a single file."""
