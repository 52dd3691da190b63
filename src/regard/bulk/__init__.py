"""Translation of files of any size: in chunks, in order, by several processes, resumable after a kill."""
