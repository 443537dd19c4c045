"""A server that answers GraphQL over HTTP by replaying (replay/). It exists to test this driver's own HTTP side where no
engine is to be had. It is not an engine: no figure that was taken through it says anything about one."""
import http.server
import json
import socket
import threading

from .replay.engine import Endpoint


def serve(conninfo, port=0):
    """Start serving on localhost; the server, whose server_address has the port. One session for each connection."""
    local = threading.local()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self):
            super().setup()
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            local.endpoint = Endpoint(conninfo)

        def finish(self):
            local.endpoint.close()
            super().finish()

        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/v1/metadata":
                # it is looked at, not applied: what a stand-in answers to is the project's metadata
                tables = [t["table"]["name"] for s in request["args"]["metadata"]["sources"] for t in s["tables"]]
                answer = json.dumps({"message": "success", "type": request["type"], "tables": tables}).encode()
            else:
                answer = local.endpoint.request(request["query"], request.get("variables"),
                                                self.headers.get("X-Hasura-Role", "admin"),
                                                self.headers.get("X-Hasura-User-Id")).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
