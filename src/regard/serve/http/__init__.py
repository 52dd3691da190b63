"""HTTP: declarations of endpoints and fields, request bodies, the guard in front, and the OpenAPI document."""
