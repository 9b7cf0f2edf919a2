"""The connection: which servers, which login, and requests that all shards answer."""
