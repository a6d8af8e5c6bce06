"""The command lists data sets and refuses unknown ones."""

import subprocess
import sys
from pathlib import Path


def test_the_command_lists_data_sets_and_refuses_unknown_ones():
    command = Path(sys.executable).with_name("spadework")
    shown = subprocess.run([command, "data", "list"], capture_output=True, text=True)
    assert "covertype" in shown.stdout
    refused = subprocess.run(
        [command, "data", "fetch", "iris"], capture_output=True, text=True
    )
    assert refused.returncode == 1
    assert "known are thyroid" in refused.stderr
    assert "Traceback" not in refused.stderr
