"""The layers of the models, one mechanism per file: attention, positions, feed-forward layers, residuals …"""
