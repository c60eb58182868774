"""YAML front matter: read as YAML 1.2, one key changed without touching the rest. Pure."""
