"""What the notes say of layers and systems, beside what can be measured of them."""
