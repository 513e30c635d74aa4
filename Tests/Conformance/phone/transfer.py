"""Queries with validators, and uploads in parts."""

import json
import os
from urllib.parse import quote, urlencode

from .store import Failure


class Transfer:
    """Stored responses and unfinished uploads."""

    def read(self, operation, variables=None):
        variables = variables or {}
        name = json.dumps([operation, variables], sort_keys=True)
        stored = self.profile["responses"].get(name)
        texts = {key: value if isinstance(value, str) else json.dumps(value)
                 for key, value in variables.items()}
        target = f"/v1/operations/{operation}" + (f"?{urlencode(texts)}" if texts else "")
        try:
            answer = self.ask("GET", target, headers={"If-None-Match": stored["etag"]} if stored else {})
            if answer[0] >= 500 or answer[0] == 429:
                raise Failure("unavailable")
        except Failure as failure:
            if stored and failure.code in ("offline", "unavailable"):
                return {"data": stored["data"], "from": "offline"}
            raise
        if answer[0] == 304:
            return {"data": stored["data"], "from": "notModified"}
        data = self.expect(answer)["data"]
        if answer[1].get("ETag"):
            self.profile["responses"][name] = {"etag": answer[1]["ETag"], "data": data}
            self.save()
        return {"data": data, "from": "network"}

    def upload(self, bucket, key, path, partBytes):
        target = f"/v1/files/{bucket}/{quote(key.replace('{user}', self.profile['userId'] or ''))}"
        self.profile["uploads"].append({"target": target, "path": path, "part": partBytes, "id": None})
        self.save()
        return self.resume()

    def resume(self):
        sent = 0
        try:
            for upload in list(self.profile["uploads"]):
                for _ in self.parts(upload):
                    sent += 1
                self.profile["uploads"].remove(upload)
                self.save()
        except Failure as failure:
            if failure.code not in ("offline", "unavailable"):
                raise
        return {"done": not self.profile["uploads"], "sent": sent}

    def parts(self, upload):
        """Sends the parts that the server does not have, then completes."""
        target = upload["target"]
        there = set()
        if upload["id"]:
            answer = self.ask("GET", f"{target}?uploadId={upload['id']}")
            if answer[0] == 404:
                if upload.get("completing"):
                    head = self.ask("HEAD", target)
                    if head[0] == 200 and int(head[1]["Content-Length"]) == os.path.getsize(upload["path"]):
                        return
                upload["id"] = None
            else:
                there = {part["PartNumber"] for part in self.expect(answer)["Parts"]}
        if upload["id"] is None:
            upload["id"] = self.expect(self.ask("POST", f"{target}/uploads"))["uploadId"]
            self.save()
        with open(upload["path"], "rb") as file:
            number = 0
            while data := file.read(upload["part"]):
                number += 1
                if number not in there:
                    part = f"{target}?uploadId={upload['id']}&partNumber={number}"
                    self.expect(self.ask("PUT", part, data))
                    yield number
        upload["completing"] = True
        self.save()
        self.expect(self.ask("POST", f"{target}?uploadId={upload['id']}"))
