"""Following the news: timelines, new and similar sentences, saved searches, citations and exports."""
