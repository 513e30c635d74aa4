"""Requests: a response is whole or none, tokens are refreshed, an unknown device is replaced."""

import http.client
import json
import time
from urllib.parse import urlsplit

from .store import Failure, Store

REQUEST_SECONDS = 3


class Connection:
    """The store, the clock, and requests to Larder."""

    def __init__(self, url, folder):
        self.url, self.store = urlsplit(url), Store(folder)
        self.shift = 0
        self.live_subjects = {}

    @property
    def profile(self):
        if self.store.value["active"] is None:
            raise Failure("signed_out")
        return self.store.value["profiles"][self.store.value["active"]]

    def save(self):
        self.store.save()

    def now(self):
        return time.time() + self.shift

    def request(self, method, target, body=None, headers=None, seconds=REQUEST_SECONDS):
        """(status, headers, body). Throws `offline`; `sent` says whether the server can have got it."""
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=seconds)
        try:
            try:
                connection.connect()
            except OSError as error:
                failure = Failure("offline", str(error))
                failure.sent = False
                raise failure from None
            try:
                connection.request(method, target, body, headers or {})
                response = connection.getresponse()
                body = response.read()
                if not is_whole(response):
                    raise http.client.IncompleteRead(body)
                if not self.is_larders(response, body):
                    raise http.client.HTTPException(f"the response ({response.status}) is not one of Larder")
                return response.status, response.headers, body
            except (OSError, http.client.HTTPException) as error:
                failure = Failure("offline", str(error))
                failure.sent = True
                raise failure from None
        finally:
            connection.close()

    @staticmethod
    def is_larders(response, body):
        """Whether a response can be Larder's; 429 and 5xx keep their meaning from any sender."""
        if response.status == 429 or response.status >= 500:
            return True
        if not response.headers.get("Request-Id"):
            return False
        if response.status < 400 or not body:
            return True
        if response.headers.get_content_type() != "application/problem+json":
            return False
        problem = json.loads(body)
        return problem.get("status") == response.status and "code" in problem and "retry" in problem

    def post(self, target, value, headers=None):
        fields = {"Content-Type": "application/json", **(headers or {})}
        return self.request("POST", target, json.dumps(value).encode(), fields)

    def credentials(self):
        fields = {"Device-Token": self.profile["token"]}
        if self.profile.get("access"):
            fields["Authorization"] = f"Bearer {self.profile['access']}"
        return fields

    def ask(self, method, target, body=None, headers=None):
        """A request of the active profile; a device that Larder does not know is replaced."""
        answer = self.ask_with_tokens(method, target, body, headers)
        if is_unknown_device(answer):
            self.replace_device()
            answer = self.ask_with_tokens(method, target, body, headers)
        return answer

    def ask_with_tokens(self, method, target, body=None, headers=None):
        """The same; tokens are refreshed when they have expired."""
        profile = self.profile
        if profile.get("ended"):
            raise Failure("signed_out")
        if profile.get("access") and self.now() > profile["expiresAt"]:
            self.refresh()
        answer = self.request(method, target, body, {**(headers or {}), **self.credentials()})
        is_refused = answer[0] == 401 and code_of(answer) in ("token_expired", "token_invalid")
        if is_refused and profile.get("access"):
            self.refresh()
            answer = self.request(method, target, body, {**(headers or {}), **self.credentials()})
        return answer

    def expect(self, answer):
        """The JSON of a 2xx; else throws the problem's code."""
        status, _, body = answer
        if 200 <= status < 300:
            return json.loads(body) if body else {}
        if status in (429, 502, 503, 504):
            raise Failure("unavailable", body.decode(errors="replace"))
        raise Failure(code_of(answer), body.decode(errors="replace")[:300])


def is_whole(response):
    """False for a head that was cut off: http.client takes the end of a connection for the end of a head."""
    has_length = response.headers.get("Content-Length") is not None or response.chunked
    return has_length or response.status in (204, 304)


def is_to_retry(body):
    """Whether a problem asks to send the same again."""
    return json.loads(body)["retry"] in ("after", "same-key")


def is_unknown_device(answer):
    return answer[0] == 401 and code_of(answer) == "unauthenticated"


def code_of(answer):
    try:
        return json.loads(answer[2])["code"]
    except (ValueError, KeyError, TypeError):
        return f"http_{answer[0]}"
