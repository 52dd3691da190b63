"""The persistent state of a server: one store that its workers and replicas share."""
