"""Changes of a folder, of one file or many: all or nothing, journaled, and taken back."""
