"""What the arguments of alerts may be, and their defaults."""

AT_ONCE, HOURLY = "at once", "hourly"
"""The schedules that name no time."""
DEFAULT_ZONE = "UTC"
DEFAULT_SIMILARITY = 0.6
"""The least similarity of an alert by meaning that names none."""
MOST_EXAMPLES = 20
"""Maximum number of sentences that an alert may ask to be similar to."""
PREVIEW_DAYS = 31
