"""Three servers, three clients and an editor on one folder for a long time: `python -m benchmarks.soak`."""
