"""A Larder with files and access keys, and S3's clients set up for it."""

import http.client
import json
import pathlib
import shutil
import sys

import boto3
import botocore.config

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "secure"))
from service import Service  # noqa: E402

ADMIN_TOKEN = "the-admin-token-of-the-tests-of-buckets"
REGION = "eu-north-1"


def settings(service=None):
    """With quotas, except over an S3 service, which cannot enforce them."""
    own, small = (", userQuota: 1MiB", ", quota: 64KiB") if service is None else ("", "")
    return f"""\
admin: {{token: {ADMIN_TOKEN}}}
files:
  buckets:
    own: {{access: user{own}}}
    shown: {{access: public-read}}
    small: {{access: admin{small}}}
{service.settings if service else ""}"""


class Larder(Service):
    """`larder serve` with the admin token set, its files on disk or in an S3 service."""

    token = ADMIN_TOKEN

    def __init__(self, binary, folder, service=None):
        super().__init__(binary, folder, settings(service))
        self.service = service

    def __enter__(self):
        super().__enter__()
        self.key = self.issue()
        return self

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/s3"

    def left_over(self, bucket):
        """The stored files of content that is not, or not yet, an object."""
        if self.service:
            return self.service.client().list_multipart_uploads(Bucket=bucket).get("Uploads", [])
        return list((self.folder / "data" / "files" / "incoming").iterdir())

    def scratch(self, name):
        """An empty folder for one check."""
        folder = self.folder.parent / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def request(self, method, target, body=None, headers=None):
        """The status, the fields and the body of one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, target, body, headers or {})
            response = connection.getresponse()
            return response.status, response.headers, response.read()
        finally:
            connection.close()

    def admin(self, method, target, body=None):
        headers = {"authorization": f"Bearer {ADMIN_TOKEN}", "content-type": "application/json"}
        text = None if body is None else json.dumps(body)
        status, _, answer = self.request(method, target, text, headers)
        return status, json.loads(answer) if answer else None

    def issue(self, **wish):
        status, key = self.admin("POST", "/v1/admin/s3/keys", wish)
        assert status == 201, (status, key)
        return key

    def revoke(self, key):
        return self.admin("DELETE", f"/v1/admin/s3/keys/{key['accessKeyId']}")[0]

    def s3(self, key=None, **options):
        """A boto3 client."""
        key = key or self.key
        settings = {"s3": {"addressing_style": "path"}, "signature_version": "s3v4",
                    "retries": {"max_attempts": 1}, **options}
        return boto3.client(
            "s3", endpoint_url=self.url, region_name=REGION,
            aws_access_key_id=key["accessKeyId"], aws_secret_access_key=key["secretAccessKey"],
            config=botocore.config.Config(**settings),
        )
