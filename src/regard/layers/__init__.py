"""The mechanisms of the notes, one file each: masks, attention, positions, feed-forward layers, residuals."""
