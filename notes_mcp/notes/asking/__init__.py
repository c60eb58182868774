"""Answers over all folders: references, pages of notes and hits, tags, links, names. Changes nothing."""
