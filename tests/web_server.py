"""A small web server on the loopback device, with ranges or without, which can fail on demand."""

import threading
import time
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class WebServer:
    """Serves `files`, a dictionary of paths and bytes.

    ranges : whether it answers with a part of a file where one is asked for
    failing : so many of the next answers have the status 503
    breaking : so many of the next answers end after half of the bytes
    statuses : the status of a path, in place of its file
    query : what must follow the question mark; None for anything
    encoding : the Content-Encoding that all answers claim; None for none
    delay : the seconds before each answer
    sent : the bytes of all files that were sent
    """

    def __init__(self):
        self.files, self.statuses, self.query, self.encoding = {}, {}, None, None
        self.ranges, self.failing, self.breaking, self.delay, self.sent = True, 0, 0, 0, 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Request, self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request):
        time.sleep(self.delay)
        path, _, query = request.path.partition("?")
        status = self.statuses.get(path, 200 if path in self.files else 404)
        if self.query not in (None, query):
            status = 403
        if self.failing > 0:
            self.failing -= 1
            status = 503
        if status != 200:
            request.send_response(status)
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        content = self.files[path]
        asked = request.headers.get("Range")
        if self.ranges and asked is not None:
            first, last = map(int, asked.removeprefix("bytes=").split("-"))
            part = content[first : last + 1]
            request.send_response(206 if part else 416)
            request.send_header("Content-Range", f"bytes {first}-{first + len(part) - 1}/{len(content)}")
        else:
            part = content
            request.send_response(200)
        request.send_header("ETag", f'"{hash(content)}"')
        request.send_header("Content-Length", str(len(part)))
        if self.encoding is not None:
            request.send_header("Content-Encoding", self.encoding)
        request.end_headers()
        breaks = self.breaking > 0 and len(part) > 1
        if breaks:
            self.breaking -= 1
            part = part[: len(part) // 2]
            request.close_connection = True
        self.sent += len(part)
        request.wfile.write(part)


class _Request(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, server, *args):
        self._web = server
        super().__init__(*args)

    def do_GET(self):
        self._web.answer(self)

    def log_message(self, *_):
        pass
