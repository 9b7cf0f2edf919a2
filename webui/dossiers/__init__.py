"""The pages of dossiers: the list, a dossier with its forms and files, its history, and what saves to one."""
