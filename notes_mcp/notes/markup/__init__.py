"""What a note says: Markdown, and plainly Org and reStructuredText, with places in the source. Pure."""
