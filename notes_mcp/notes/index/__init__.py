"""The index of one folder: full text, tags, links and names, shared by every server on the folder."""
