"""The languages of the pages: their messages, and how they write dates and numbers."""
