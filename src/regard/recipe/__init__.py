"""All keys of a training run, from TOML or from flags; each section is defined here or beside what it configures."""
