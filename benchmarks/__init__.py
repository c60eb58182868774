"""Figures of notes-mcp, measured, never asserted: `python -m benchmarks` prints them side by side."""
