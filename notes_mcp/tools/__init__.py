"""One file per tool: its arguments, its result and one function. Touches the Library only."""
