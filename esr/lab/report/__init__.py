"""The report, a page of tables and pictures: one file a picture, its data and its drawing apart."""
