"""Results as a person reads them: tables, pages, charts, drawings, and the files they are written to."""
