"""An S3 service that is unreachable, overloaded or full: the errors that clients of the dialect and
of `/v1/files` get, and the objects that are there afterwards."""

import hashlib
import http.client
import json

from boto import code_of
from doorway import Doorway
from rude import LARGE_BYTES, Signer, code
from running import ADMIN_TOKEN, Larder
from service import eventually

BUSY = (
    b"HTTP/1.1 503 Slow Down\r\nContent-Type: application/xml\r\nRetry-After: 7\r\n"
    b"Connection: close\r\nContent-Length: 40\r\n\r\n<Error><Code>SlowDown</Code></Error>\r\n\r\n"
)
FULL = b"HTTP/1.1 507 Insufficient Storage\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
UNAVAILABLE = (503, "ServiceUnavailable")
RECOVERY_SECONDS_MAX = 60


def reports_an_outage_of_the_service(larder):
    folder = larder.folder.parent / "away"
    with Doorway(larder.service) as doorway, Larder(larder.binary, folder, doorway) as site:
        # No retries, so that only Larder's own attempts are counted.
        s3 = site.s3(retries={"total_max_attempts": 1})
        s3.create_bucket(Bucket="away")
        s3.put_object(Bucket="away", Key="k", Body=b"before")
        upload = {"Bucket": "away", "Key": "p"}
        upload["UploadId"] = s3.create_multipart_upload(**upload)["UploadId"]
        part = s3.upload_part(**upload, PartNumber=1, Body=b"part")
        parts = [{"PartNumber": 1, "ETag": part["ETag"]}]
        for turn_away in (doorway.shut, lambda: doorway.put_off(BUSY)):
            turn_away()
            expect_unavailable(site, s3, upload, parts)
            doorway.open()
            found = eventually(lambda: content(s3), RECOVERY_SECONDS_MAX)
            assert found == b"before", found
        s3.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})
        outage_in_the_middle_of_a_put(site, doorway)
        assert eventually(lambda: content(s3), RECOVERY_SECONDS_MAX) == b"before"
        keys = [item["Key"] for item in s3.list_objects_v2(Bucket="away")["Contents"]]
        assert keys == ["k", "p"] and not site.left_over("away"), keys


def reports_a_full_service(larder):
    folder = larder.folder.parent / "full"
    with Doorway(larder.service) as doorway, Larder(larder.binary, folder, doorway) as site:
        s3 = site.s3(retries={"total_max_attempts": 1})
        s3.put_object(Bucket="shown", Key="full", Body=b"before")
        doorway.put_off(FULL)
        # For every client: some read the status line only if it has a reason.
        for body in (b"", b"after", b"x" * LARGE_BYTES):
            refused = code_of(s3.put_object, Bucket="shown", Key="full", Body=body)
            assert refused == (507, "InsufficientStorage"), (len(body), refused)
        token = {"authorization": f"Bearer {ADMIN_TOKEN}"}
        status, _, answer = site.request("PUT", "/v1/files/shown/full", b"after", token)
        assert status == 503 and json.loads(answer)["code"] == "storage_full", answer
        doorway.open()
        assert s3.get_object(Bucket="shown", Key="full")["Body"].read() == b"before"


def content(s3):
    """The content; None while the service is unavailable."""
    try:
        return s3.get_object(Bucket="away", Key="k")["Body"].read()
    except s3.exceptions.ClientError as error:
        assert error.response["Error"]["Code"] == "ServiceUnavailable", error
        return None


def expect_unavailable(site, s3, upload, parts):
    own = {"Bucket": "away", "Key": "k"}
    for call, options in (
        (s3.get_object, own), (s3.put_object, own | {"Body": b"after"}), (s3.delete_object, own),
        (s3.put_object, own | {"Body": b"x" * LARGE_BYTES}),
        (s3.copy_object, own | {"Key": "c", "CopySource": own}),
        (s3.list_objects_v2, {"Bucket": "away"}), (s3.list_buckets, {}),
        (s3.create_bucket, {"Bucket": "another"}), (s3.delete_bucket, {"Bucket": "away"}),
        (s3.create_multipart_upload, own), (s3.upload_part, upload | {"PartNumber": 2}),
        (s3.list_parts, upload), (s3.abort_multipart_upload, upload),
        (s3.complete_multipart_upload, upload | {"MultipartUpload": {"Parts": parts}}),
    ):
        assert code_of(call, **options) == UNAVAILABLE, (call.__name__, code_of(call, **options))
    assert code_of(s3.head_object, **own)[0] == 503
    errors = s3.delete_objects(Bucket="away", Delete={"Objects": [{"Key": "k"}]})["Errors"]
    assert [error["Code"] for error in errors] == ["ServiceUnavailable"], errors
    status, fields, answer = site.request(
        "GET", "/s3/away/k", headers=Signer(site).fields("GET", "/s3/away/k"))
    assert (status, code(answer)) == UNAVAILABLE and int(fields["retry-after"]) > 0, answer
    token = {"authorization": f"Bearer {ADMIN_TOKEN}"}
    for method, body in (("GET", None), ("PUT", b"after"), ("DELETE", None)):
        status, fields, answer = site.request(method, "/v1/files/away/k", body, token)
        assert status == 503 and json.loads(answer)["code"] == "files_unavailable", answer


def outage_in_the_middle_of_a_put(site, doorway):
    """Interrupts a put: its content can no longer be stored."""
    whole = b"x" * LARGE_BYTES
    for path, expected in (
        ("/s3/away/k", "ServiceUnavailable"), ("/v1/files/away/k", "files_unavailable"),
    ):
        fields = {"authorization": f"Bearer {ADMIN_TOKEN}"}
        if path.startswith("/s3"):
            digest = hashlib.sha256(whole).hexdigest()
            fields = Signer(site).fields("PUT", path, payload=digest)
        connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
        connection.putrequest("PUT", path, skip_host="host" in fields)
        for name, value in fields.items():
            connection.putheader(name, value)
        connection.putheader("content-length", str(len(whole)))
        connection.endheaders(whole[:LARGE_BYTES // 2])
        doorway.shut()
        try:
            connection.send(whole[LARGE_BYTES // 2:])
        except OSError:
            # The response has been sent already, and the rest is not read.
            pass
        answer = connection.getresponse()
        told = answer.read()
        assert answer.status == 503, (path, answer.status, told)
        assert (code(told) or json.loads(told)["code"]) == expected, told
        connection.close()
        doorway.open()
        get = {"authorization": f"Bearer {ADMIN_TOKEN}"}
        assert eventually(
            lambda: site.request("GET", "/v1/files/away/k", headers=get)[2] == b"before",
            RECOVERY_SECONDS_MAX,
        ), path
