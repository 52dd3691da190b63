"""Every key of a training run, from TOML or from flags: one section of keys per file or beside what it configures."""
