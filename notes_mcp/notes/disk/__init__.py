"""The folder on disk behind its gate: looking, atomic writing, the watcher, the lock."""
