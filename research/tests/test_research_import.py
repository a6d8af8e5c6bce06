"""Who asks for help, or uses the library alone, loads nothing of research."""

import subprocess
import sys


def test_the_command_line_starts_without_research():
    code = (
        "import sys, spadework.cli.app\n"
        "print([name for name in sys.modules if name.startswith('spadework_research')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[]"
