import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not (hasattr(os, "fork") and hasattr(signal, "SIGKILL")), reason="fork and SIGKILL")
def test_killed_at_random_instants_of_every_kind_of_write_the_folder_is_whole() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.kill9", "--times", "25", "--seed", "7"],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=Path(__file__).parents[3],
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "25 kills" in run.stdout
