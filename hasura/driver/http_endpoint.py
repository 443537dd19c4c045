"""An endpoint that speaks GraphQL over HTTP: any engine with Hasura's API of version 2."""
import http.client
import json
import socket
import urllib.parse


class Endpoint:
    """One persistent connection. The secret and the role go into Hasura's headers."""

    def __init__(self, url, secret=None, kind="GraphQL over HTTP"):
        self.kind = kind
        parts = urllib.parse.urlsplit(url)
        self._path = parts.path if parts.path not in ("", "/") else "/v1/graphql"
        https = parts.scheme == "https"
        make = http.client.HTTPSConnection if https else http.client.HTTPConnection
        self._conn = make(parts.hostname, parts.port or (443 if https else 80), timeout=600)
        self._secret = secret

    def close(self):
        self._conn.close()

    def request(self, query, variables=None, role="admin", user=None):
        """The text of the response."""
        headers = {"Content-Type": "application/json", "X-Hasura-Role": role}
        if self._secret:
            headers["X-Hasura-Admin-Secret"] = self._secret
        if user is not None:
            headers["X-Hasura-User-Id"] = str(user)
        body = {"query": query}
        if variables:
            body["variables"] = variables
        if self._conn.sock is None:
            self._conn.connect()
            self._conn.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._conn.request("POST", self._path, json.dumps(body).encode(), headers)
        response = self._conn.getresponse()
        text = response.read().decode()
        if not text.startswith("{"):
            raise ConnectionError(f"HTTP {response.status}: {text[:200]}")
        return text
