"""The endpoints under /api: translations with details, explanations, and tools."""
