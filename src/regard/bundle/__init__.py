"""Models as folders: their files, checksums, cards and stored weights, and the models bundled with the package."""
