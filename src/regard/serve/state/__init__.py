"""The state of a server between requests: one store that its workers and replicas share."""
