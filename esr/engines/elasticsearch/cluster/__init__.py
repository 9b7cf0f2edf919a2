"""The connection: servers, login, roles, the names of indices, and requests that all shards answer."""
