"""A model as a folder: its files, checksums, card and stored weights, and the models that come with the package."""
