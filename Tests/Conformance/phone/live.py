"""Streams that are opened again after a break, and polling where there are none."""

import http.client
import json
import queue
import threading
import time
from urllib.parse import urlencode

from .store import Failure

RECONNECT_SECONDS = 0.2


class Live:
    """Subjects that the app follows while it runs."""

    def live(self, name, operation=None, variables=None, collection=None, changes=None):
        if operation:
            path, query = f"/v1/operations/{operation}", urlencode(variables or {})
        elif collection:
            path, _, query = collection.partition("?")
        else:
            path, query = "/v1/changes", f"types={','.join(changes['types'])}"
        subject = {
            "path": path, "query": query,
            "kind": "operation" if operation else "list" if collection else "changes",
            "events": queue.Queue(), "open": True, "last": None, "items": [], "from": "stream"}
        self.live_subjects[name] = subject
        threading.Thread(target=self.follow_live, args=(subject, self.credentials()), daemon=True).start()
        return {}

    def follow_live(self, subject, credentials):
        """Keeps a stream open; as long as none can be opened, polls in its place."""
        while subject["open"]:
            since = "since=now&" if subject["kind"] == "changes" and not subject["last"] else ""
            connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=60)
            try:
                last = {"Last-Event-ID": subject["last"]} if subject["last"] else {}
                connection.request("GET", f"{subject['path']}/stream?{since}{subject['query']}",
                                   headers={**credentials, **last})
                response = connection.getresponse()
                if response.status == 200:
                    subject["from"] = "stream"
                    read_events(response, subject)
                else:
                    subject["from"] = "polling"
                    self.poll(subject, credentials)
            except (OSError, http.client.HTTPException, Failure):
                pass
            finally:
                connection.close()
            time.sleep(RECONNECT_SECONDS)

    def poll(self, subject, credentials):
        path, headers = f"{subject['path']}?{subject['query']}", dict(credentials)
        if subject["kind"] == "changes":
            path += f"&since={subject['last'] or 'now'}"
        elif subject["last"]:
            headers["If-None-Match"] = subject["last"]
        status, fields, body = self.request("GET", path, headers=headers)
        if status != 200:
            return
        value = json.loads(body)
        subject["last"] = value["cursor"] if subject["kind"] == "changes" else fields["ETag"]
        if subject["kind"] == "changes":
            for change in value["changes"]:
                subject["events"].put({"event": "change", "data": change})
        elif subject["kind"] == "operation":
            subject["events"].put({"event": "message", "data": value})
        else:
            subject["events"].put({"event": "list", "data": {"kind": "full", **value}})

    def events(self, name, atLeast, within):
        subject, found = self.live_subjects[name], []
        deadline = time.monotonic() + within
        while True:
            try:
                left = 0 if len(found) >= atLeast else max(0, deadline - time.monotonic())
                found.append(subject["events"].get(block=left > 0, timeout=left or None))
            except queue.Empty:
                break
        for one in found:
            if one["event"] in ("list", "diff"):
                subject["items"] = applied(subject["items"], one["data"])
        return {"events": found, "from": subject["from"]}

    def rows(self, name):
        return {"items": self.live_subjects[name]["items"]}

    def unlive(self, name):
        self.live_subjects.pop(name)["open"] = False
        return {}


def read_events(response, subject):
    event, data, last = "message", [], None
    for raw in response:
        line = raw.decode().rstrip("\n")
        if line.startswith("id: "):
            last = line[4:]
        elif line.startswith("event: "):
            event = line[7:]
        elif line.startswith("data: "):
            data.append(line[6:])
        elif not line:
            if last:
                subject["last"] = last
            if data and event in ("message", "change", "list", "diff"):
                subject["events"].put({"event": event, "data": json.loads("\n".join(data))})
            event, data, last = "message", [], None


def applied(items, change):
    """A list after a `list` or `diff` event: what is left of the old list fills the free places."""
    if change["kind"] == "full":
        return change["items"]
    entities = change["entities"]
    new = [None] * change["count"]
    for one in change["inserts"]:
        new[one["index"]] = entities[one["id"]]
    for one in change["moves"]:
        new[one["to"]] = items[one["from"]]
    gone = {*change["deletes"], *(one["from"] for one in change["moves"])}
    staying = iter(item for index, item in enumerate(items) if index not in gone)
    new = [next(staying) if item is None else item for item in new]
    for one in change["updates"]:
        new[one["new"]] = entities[one["id"]]
    return new
