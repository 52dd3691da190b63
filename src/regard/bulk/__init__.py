"""Files of any size, translated: in chunks, in order, by several processes, resumed after a kill."""
