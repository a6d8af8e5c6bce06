"""Original files arrive whole, or not at all."""

import gzip
import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from spadework.errors import DataError
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
