"""HTTP: declarations of endpoints and fields, request bodies, the guard middleware, and the OpenAPI document."""
