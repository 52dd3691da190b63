"""What a server remembers between requests, in one store that its workers and replicas share."""
