"""Edits of one note on spans of its bytes: passages, sections, blocks, tags. Pure."""
