"""Word alignment: by EM (IBM model 1, HMM), and from the cross-attention of a model."""
