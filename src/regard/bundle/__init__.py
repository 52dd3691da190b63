"""A model as a folder: its files, its card, its weights in fewer bytes, and the models that come with the package."""
