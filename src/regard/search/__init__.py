"""Search: token ids in, hypotheses out. Beam search, sampling, constraints, and the engines that compute them."""
