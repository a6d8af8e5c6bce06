"""Importing stays light, and the numerics need nothing but their few libraries."""

import subprocess
import sys

HEAVY = ("numpy", "scipy", "sklearn", "torch", "pandas", "polars", "rich", "typer")


def python(code):
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def test_importing_the_package_loads_nothing_heavy():
    loaded = f"[name for name in {HEAVY} if name in sys.modules]"
    assert python(f"import sys, spadework; print({loaded})") == "[]"


def test_help_loads_no_numerics():
    code = (
        "import sys\n"
        "from typer.testing import CliRunner\n"
        "from spadework.cli.app import app\n"
        "assert 'demo' in CliRunner().invoke(app, ['--help']).output\n"
        "print([m for m in ('numpy', 'sklearn', 'torch') if m in sys.modules])"
    )
    assert python(code) == "[]"


def test_trees_load_torch_only_where_contexts_are_read():
    code = (
        "import sys\n"
        "import numpy as np\n"
        "import spadework.model_selection\n"
        "from spadework import SPADE\n"
        "X = np.random.default_rng(0).random((60, 3))\n"
        "SPADE(learner='forest').fit(X, [1, 0] * 5 + [-1] * 50).predict(X)\n"
        "SPADE(label_map={1: 1, 0: 0}).fit(X, [1, 0] * 30)\n"
        "print('torch' in sys.modules)\n"
        "SPADE().fit(X, [1, 0] * 5 + [-1] * 50)\n"
        "print('torch' in sys.modules)"
    )
    assert python(code).split() == ["False", "True"]


def test_learners_work_without_table_and_terminal_libraries():
    code = (
        "import builtins\n"
        "absent = {'pandas', 'polars', 'pyarrow', 'rich', 'typer', 'safetensors'}\n"
        "absent |= {'PIL', 'torchvision'}\n"
        "real = builtins.__import__\n"
        "def without(name, *rest, **more):\n"
        "    if name.split('.')[0] in absent:\n"
        "        raise ModuleNotFoundError(name)\n"
        "    return real(name, *rest, **more)\n"
        "builtins.__import__ = without\n"
        "import numpy as np\n"
        "import spadework.images.paper\n"
        "from spadework import SPADE, ForestLearner, NetworkLearner\n"
        "X = np.random.default_rng(0).random((60, 3))\n"
        "y = [1, 0] * 5 + [-1] * 50\n"
        "network = NetworkLearner(max_epochs=1, n_networks=1)\n"
        "for learner in (ForestLearner(n_trees=2), network):\n"
        "    SPADE(learner=learner).fit(X, y).predict(X)\n"
        "absent.remove('safetensors')  # which weights of contexts come in\n"
        "SPADE().fit(X, y).predict(X)\n"
        "print('fine')"
    )
    assert python(code) == "fine"


def test_every_public_name_is_there_and_loads_no_library_of_an_extra():
    code = (
        "import sys, spadework, spadework.adapters, spadework.export\n"
        "[getattr(spadework, name) for name in spadework.__all__]\n"
        "absent = ('onnx', 'onnxruntime', 'pyod')\n"
        "assert not [name for name in absent if name in sys.modules]\n"
        "print(set(spadework.__all__) <= set(dir(spadework)))"
    )
    assert python(code) == "True"


def test_unknown_names_are_refused_as_usual():
    code = "import spadework; print(hasattr(spadework, 'nothing'))"
    assert python(code) == "False"
