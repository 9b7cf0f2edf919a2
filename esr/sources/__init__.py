"""Sources that `esr sync` fetches: feeds and sitemaps of the web, mailboxes, buckets."""
