"""Every key of a training run, from TOML or from flags."""
