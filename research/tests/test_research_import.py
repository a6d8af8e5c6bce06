"""Who asks for help loads nothing of research, and a sweep needs few libraries."""

import subprocess
import sys


def python(code):
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_help_loads_nothing_of_research():
    code = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from spadework.cli.app import app\n"
        "assert 'bench' in CliRunner().invoke(app, ['--help']).output\n"
        "print([name for name in sys.modules if name.startswith('spadework_research')])"
    )
    assert python(code) == "[]"


def test_a_sweep_of_photos_can_be_started_without_table_and_terminal_libraries():
    code = (
        "import builtins\n"
        "absent = {'pandas', 'polars', 'pyarrow', 'rich', 'typer', 'jinja2'}\n"
        "absent |= {'safetensors', 'pydantic'}\n"
        "real = builtins.__import__\n"
        "def without(name, *rest, **more):\n"
        "    if name.split('.')[0] in absent:\n"
        "        raise ModuleNotFoundError(name)\n"
        "    return real(name, *rest, **more)\n"
        "builtins.__import__ = without\n"
        "import spadework_research.datasets.photo_tables\n"
        "from spadework_research.runs.methods import IMAGE_COMPARED, METHODS\n"
        "from spadework_research.runs.benchmark import plan\n"
        "[METHODS[name].detector(0, photos=True) for name in IMAGE_COMPARED]\n"
        "print(len(plan(['images'], seeds=1)) > 0)"
    )
    assert python(code) == "True"
