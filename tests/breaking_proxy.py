"""A TCP proxy on the loopback device that breaks connections."""

import contextlib
import re
import socket
import threading

_PIECE = 1 << 14
_REQUEST = re.compile(rb"^([A-Z]+ \S+) HTTP/1\.1\r\n", re.MULTILINE)


class BreakingProxy:
    """Passes bytes on to a port of this machine; `port` is its own.

    refuse : so many of the next connections are closed at once
    cut : so many of the next answers end after `after` bytes
    sent : the bytes of all answers
    requests : the first words of all requests
    """

    def __init__(self, to):
        self._to = to
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.refuse = self.cut = self.sent = self.connections = 0
        self.after, self.requests = 0, []
        self._lock = threading.Lock()  # of the counts: each connection has two threads
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self):
        self._listener.close()

    def _serve(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            if self.refuse > 0:
                self.refuse -= 1
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self._to))
            for one, other, answers in ((client, server, False), (server, client, True)):
                threading.Thread(target=self._pass_on, args=(one, other, answers), daemon=True).start()

    def _pass_on(self, source, target, answers):
        passed = 0
        try:
            while piece := source.recv(_PIECE):
                passed += len(piece)
                if answers:
                    with self._lock:
                        self.sent += len(piece)
                        cut = self.cut > 0 and passed > self.after
                        self.cut -= cut
                    if cut:
                        break
                else:
                    with self._lock:
                        self.requests += _REQUEST.findall(piece)
                target.sendall(piece)
        except OSError:
            pass
        finally:
            for end in (source, target):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
                end.close()
