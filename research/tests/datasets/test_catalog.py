"""Data sets come by name, from original files only, downloaded whole or not at all."""

import gzip
import hashlib
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from real_data import load_table
from spadework.errors import DataError, InputError
from spadework_research.datasets import catalog
from spadework_research.datasets.download import SourceFile, check_file, download

CONTENT = bytes(range(256)) * 20_000
PAGE = "https://example.org/page"


def source(content=CONTENT, url=None, name="made/table.csv"):
    return SourceFile(name, hashlib.sha256(content).hexdigest(), url, PAGE)


@pytest.fixture
def server():
    """A web server on loopback that can break off, and says which ranges it sent."""

    class Handler(BaseHTTPRequestHandler):
        sent, break_after = [], None

        def do_GET(self):
            start = int(self.headers["Range"].removeprefix("bytes=").rstrip("-"))
            Handler.sent.append(start)
            rest = CONTENT[start:]
            self.send_response(206)
            self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            self.wfile.write(rest[: Handler.break_after])

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        Handler.url = f"http://127.0.0.1:{running.server_port}/table.csv"
        yield Handler
        running.shutdown()


@pytest.mark.parametrize("name", catalog.DATASETS)
def test_every_file_on_this_machine_is_the_original(name):
    load_table(name)


@pytest.mark.parametrize(
    ("name", "shape", "kinds"),
    [
        ("thyroid", (7200, 21), [6666, 166, 368]),
        ("drug", (1885, 30), [1429, 39, 97, 149, 50, 48, 73]),
        ("covertype", (581_012, 54), [495_141, 35_754, 2_747, 9_493, 17_367, 20_510]),
        ("creditcard", (284_807, 29), [284_315, 492]),
    ],
)
def test_classes_become_the_kinds_of_the_appendix(name, shape, kinds):
    table = load_table(name)
    assert table.X.shape == shape
    assert np.bincount(table.kind).tolist() == kinds
    assert np.isfinite(table.X).all()


def test_unknown_names_list_the_known_ones():
    with pytest.raises(InputError, match=r"'iris'; known are thyroid, drug, covertype"):
        catalog.get_dataset("iris")


def test_missing_files_are_named_with_their_page(monkeypatch, tmp_path):
    monkeypatch.setenv("SPADEWORK_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"spadework data fetch drug.*uci\.edu"):
        catalog.get_dataset("drug").load()


def test_a_source_that_needs_an_account_says_where_to_put_the_file(monkeypatch, tmp_path):
    monkeypatch.setenv("SPADEWORK_DATA", str(tmp_path))
    place = str(tmp_path / "creditcard" / "creditcard.csv")
    with pytest.raises(DataError, match=r"kaggle\.com.*put it at") as refusal:
        catalog.get_dataset("creditcard").fetch()
    assert place in str(refusal.value)


def test_a_changed_file_is_refused_with_its_checksum(monkeypatch, tmp_path):
    monkeypatch.setenv("SPADEWORK_DATA", str(tmp_path))
    path = tmp_path / "drug" / "drug_consumption.data"
    path.parent.mkdir()
    path.write_text("1,2,3\n")
    with pytest.raises(DataError, match=r"not the original.*sha256.*37333e8d"):
        catalog.get_dataset("drug").load()


def test_a_gzipped_copy_counts_as_the_original(tmp_path):
    path = tmp_path / "made" / "table.csv.gz"
    path.parent.mkdir()
    path.write_bytes(gzip.compress(CONTENT))
    assert source().place(tmp_path) == path
    check_file(path, source())


def test_a_cut_off_gzip_is_refused(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(CONTENT)[:-20])
    with pytest.raises(DataError, match="cannot be unpacked"):
        check_file(path, source())


def test_a_download_arrives_whole(server, tmp_path):
    path = download(source(url=server.url), tmp_path, verbose=False)
    assert path.read_bytes() == CONTENT
    assert [p.name for p in path.parent.iterdir()] == ["table.csv"]


def test_a_broken_download_leaves_no_file_and_is_resumed(server, tmp_path):
    wanted = source(url=server.url)
    server.break_after = 3_000_000
    with pytest.raises(DataError):
        download(wanted, tmp_path, verbose=False)
    assert not (tmp_path / wanted.name).exists()
    server.break_after = None
    path = download(wanted, tmp_path, verbose=False)
    assert path.read_bytes() == CONTENT
    assert server.sent[0] == 0
    assert server.sent[-1] > 0


def test_a_download_with_another_checksum_is_thrown_away(server, tmp_path):
    with pytest.raises(DataError, match="not the original"):
        download(source(b"other", url=server.url), tmp_path, verbose=False)
    assert list((tmp_path / "made").iterdir()) == []


def test_no_connection_is_a_clear_error(tmp_path):
    nowhere = source(url="http://127.0.0.1:9/table.csv")
    with pytest.raises(DataError, match=r"could not be downloaded.*or get it from"):
        download(nowhere, tmp_path, verbose=False)


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
