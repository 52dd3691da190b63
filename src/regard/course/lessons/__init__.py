"""The twelve lessons: their source, read once and rendered twice, for the web UI and for docs/course."""
