"""Files in an independent S3 service (moto): clients get the same responses as with the disk.

  checks.py --binary LARDER --folder FOLDER [--tally FILE] [--only NAME]

The same requests go to a Larder over the service and to one over its disk, and the responses are
compared; then the service is inspected with boto3, stopped, and started again.
"""

import hashlib
import http.client
import json
import pathlib
import re
import subprocess
import sys

PEERS = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(PEERS), str(PEERS / "secure")]
from check_run import run  # noqa: E402
from region_front import RegionFront  # noqa: E402
from s3_server import Moto  # noqa: E402
from service import MemoryWatch, Service, eventually  # noqa: E402

ADMIN = "an-operator-of-the-tests-0123456789"
# Response fields that are the same over any store.
COMPARED = (
    "content-type", "content-length", "content-range", "content-encoding", "etag",
    "accept-ranges", "cache-control", "content-disposition", "x-amz-meta-colour", "retry-after",
)
PART_BYTES = 5 << 20
# So long that a copy of it, or of a large part, would show.
LONG_BYTES = 320 << 20
GROWTH_BYTES_MAX = 40 << 20
KEYS = ("plain", "a b+c", "per%25cent", "é/日本", "a//b", "q?x&y=z", "~'()*!")


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.fields = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def told(self):
        """The compared part: the full content, or the code of a problem."""
        body = self.body
        if "problem+json" in self.fields.get("content-type", ""):
            body = self.json["code"] if "code" in self.json else self.json["type"]
        fields = {name: self.fields[name] for name in COMPARED if name in self.fields}
        if "json" in fields.get("content-type", ""):
            fields.pop("content-length", None)
            fields.pop("etag", None)
            body = body if isinstance(body, str) else steady(self.json)
        return self.status, fields, body if len(body) < 2000 else hashlib.sha256(body).hexdigest()


def steady(value):
    """JSON without the values that differ between stores by design."""
    passing = {"LastModified", "UploadId", "modifiedAt", "uploadId"}
    if isinstance(value, dict):
        return {name: steady(one) for name, one in value.items() if name not in passing}
    return [steady(one) for one in value] if isinstance(value, list) else value


def ask(port, method, target, body=None, token=ADMIN, **fields):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {name.replace("_", "-"): value for name, value in fields.items()}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if isinstance(body, (dict, list)):
        headers["Content-Type"] = "application/json"
        body = json.dumps(body)
    try:
        connection.request(method, target, body, headers, encode_chunked=hasattr(body, "__next__"))
        return Answer(connection.getresponse())
    finally:
        connection.close()


def path(key, bucket="pics"):
    from urllib.parse import quote
    return f"/v1/files/{bucket}/{quote(key, safe='/')}"


def pieces(body, count=100_000):
    """The body in pieces, without an announced length."""
    return (body[start:start + count] for start in range(0, len(body), count))


def data(count):
    return bytes((n * 7 + (n >> 9)) & 255 for n in range(4096)) * (count // 4096) + b"x" * (count % 4096)


def story(port):
    """A client's requests, and every response it gets."""
    def tell(name, answer):
        told.append((name, answer.told))
        return answer

    told = []
    text = {"Content_Type": "text/plain", "x_amz_meta_colour": "blue"}
    first = tell("put", ask(port, "PUT", path("k"), b"0123456789", **text))
    tell("put again", ask(port, "PUT", path("k"), b"0123456789", **text))
    tag = first.fields["etag"]
    tell("get", ask(port, "GET", path("k")))
    tell("head", ask(port, "HEAD", path("k")))
    for ranged in ("bytes=2-4", "bytes=7-", "bytes=-3", "bytes=9-100", "bytes=10-", "bytes=0-1,4-5"):
        answer = ask(port, "GET", path("k"), Range=ranged)
        if answer.fields.get("content-type", "").startswith("multipart/"):
            answer.fields.pop("content-type")
            answer.body = str(answer.body.count(b"Content-Range")).encode()
            answer.fields.pop("content-length", None)
        tell(ranged, answer)
    tell("not modified", ask(port, "GET", path("k"), If_None_Match=tag))
    tell("match", ask(port, "GET", path("k"), If_Match=tag))
    tell("no match", ask(port, "GET", path("k"), If_Match='"other"'))
    tell("only new", ask(port, "PUT", path("k"), b"x", If_None_Match="*"))
    tell("only known", ask(port, "PUT", path("k"), b"y", If_Match='"other"'))
    tell("known", ask(port, "PUT", path("k"), b"z", If_Match=tag))
    tell("new", ask(port, "PUT", path("n"), b"n", If_None_Match="*"))
    tell("wrong digest", ask(port, "PUT", path("k"), b"w", Content_MD5="AAAAAAAAAAAAAAAAAAAAAA=="))
    tell("unchanged", ask(port, "GET", path("k")))
    tell("empty", ask(port, "PUT", path("e"), b""))
    tell("get empty", ask(port, "GET", path("e")))
    tell("missing", ask(port, "GET", path("missing")))
    tell("missing bucket", ask(port, "GET", path("k", "nowhere")))
    for key in KEYS:
        tell(key, ask(port, "PUT", path(f"odd/{key}"), key.encode()))
        tell(key, ask(port, "GET", path(f"odd/{key}")))
    large = data(12 << 20)
    tell("large", ask(port, "PUT", path("large"), large))
    tell("get large", ask(port, "GET", path("large")))
    tell("middle", ask(port, "GET", path("large"), Range="bytes=1000000-9000000"))
    tell("copy", ask(port, "POST", path("k/copy"), {"to": "copies/k"}))
    tell("copied", ask(port, "GET", path("copies/k")))
    for query in ("", "?delimiter=/", "?prefix=odd/&delimiter=/", "?prefix=c", "?max-keys=0"):
        tell(f"list {query}", ask(port, "GET", f"/v1/files/pics{query}"))
    upload = tell("begin", ask(port, "POST", path("parts/uploads"), **text)).json["uploadId"]
    parts = []
    for number, body in ((1, data(PART_BYTES)), (2, b"end")):
        part = tell(f"part {number}", ask(
            port, "PUT", f"{path('parts')}?uploadId={upload}&partNumber={number}", body))
        parts.append({"partNumber": number, "etag": part.fields["etag"]})
    tell("parts", ask(port, "GET", f"{path('parts')}?uploadId={upload}"))
    tell("wrong part", ask(
        port, "POST", f"{path('parts')}?uploadId={upload}",
        {"parts": [{"partNumber": 1, "etag": '"0"'}]}))
    tell("complete", ask(
        port, "POST", f"{path('parts')}?uploadId={upload}", {"parts": parts}))
    tell("whole", ask(port, "GET", path("parts")))
    tell("over", ask(port, "GET", f"{path('parts')}?uploadId={upload}"))
    link = ask(port, "POST", path("n/presign"), {"method": "GET", "expiresIn": 60}).json["url"]
    target = "/" + link.split("/", 3)[3]
    tell("link", ask(port, "GET", target, token=None))
    tell("bent link", ask(port, "GET", target[:-4] + "AAAA", token=None))
    tell("public", ask(port, "GET", path("n"), token=None))
    tell("not public", ask(port, "PUT", path("n"), b"no", token=None))
    tell("delete", ask(port, "DELETE", path("n")))
    tell("deleted", ask(port, "DELETE", path("n")))
    tell("gone", ask(port, "GET", path("n")))
    tell("full bucket", ask(port, "DELETE", "/v1/files/pics"))
    return told


def responds_as_with_the_disk(site):
    with site.moto() as moto, site.service(s3(moto)) as remote:
        found = story(remote.port)
    equals_the_disk(site, found)


def equals_the_disk(site, found):
    with site.service(buckets()) as local:
        wanted = story(local.port)
    differing = [
        f"{name}:\n  s3   {one}\n  disk {other}"
        for (name, one), (_, other) in zip(found, wanted, strict=True) if one != other
    ]
    assert not differing, "\n".join(differing)


def stores_objects_that_other_clients_can_read(site):
    with site.moto() as moto, site.service(s3(moto)) as larder:
        client = moto.client()
        ask(larder.port, "PUT", path("a b/é+"), b"hello", Content_Type="text/css",
            Cache_Control="max-age=9", x_amz_meta_colour="red")
        found = client.get_object(Bucket="pics", Key="a b/é+")
        assert found["Body"].read() == b"hello" and found["ContentType"] == "text/css", found
        assert found["Metadata"] == {"colour": "red"} and found["CacheControl"] == "max-age=9", found
        client.put_object(Bucket="pics", Key="theirs", Body=b"from elsewhere", ContentType="text/plain")
        answer = ask(larder.port, "GET", path("theirs"))
        assert (answer.status, answer.body) == (200, b"from elsewhere"), answer.told
        # Reads are not cached.
        client.put_object(Bucket="pics", Key="theirs", Body=b"changed", ContentType="text/plain")
        assert ask(larder.port, "GET", path("theirs")).body == b"changed"


def uploads_content_of_unknown_length_in_parts(site):
    with site.moto() as moto, site.service(s3(moto)) as larder:
        body = data(20 << 20)
        answer = ask(larder.port, "PUT", path("long"), pieces(body))
        assert answer.status == 201 and re.search(r'-3"$', answer.fields["etag"]), answer.told
        assert ask(larder.port, "GET", path("long")).body == body
        assert "Uploads" not in moto.client().list_multipart_uploads(Bucket="pics")


def does_not_buffer_content(site):
    """Four times the content takes no more memory than the content."""
    def there_and_back(count):
        with MemoryWatch(larder) as memory:
            sent = hashlib.sha256()
            answer = ask(larder.port, "PUT", path("long"), noting(sent, random_pieces(count)))
            assert answer.status in (200, 201), answer.told
            stored = memory.peak_bytes
            assert digest_of(larder.port, path("long")) == (count, sent.hexdigest())
        return stored, memory.peak_bytes

    with site.moto() as moto, site.service(s3(moto)) as larder:
        before = larder.resident_bytes
        small, large = there_and_back(LONG_BYTES // 4), there_and_back(LONG_BYTES)
        assert large[0] - small[0] <= GROWTH_BYTES_MAX, (before, small, large)
        assert large[1] - small[1] <= GROWTH_BYTES_MAX, (before, small, large)


def random_pieces(count):
    for number in range(count >> 20):
        yield number.to_bytes(4, "big") * (1 << 18)


def noting(digest, parts):
    for part in parts:
        digest.update(part)
        yield part


def digest_of(port, target):
    """The length of an object, and its SHA-256."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", target, headers={"Authorization": f"Bearer {ADMIN}"})
    response = connection.getresponse()
    digest, count = hashlib.sha256(), 0
    while part := response.read(1 << 20):
        digest.update(part)
        count += len(part)
    connection.close()
    return count, digest.hexdigest()


def reports_an_outage_of_the_service_and_its_end(site):
    with site.moto() as moto, site.service(s3(moto)) as larder:
        ask(larder.port, "PUT", path("k"), b"k")
        moto.stop()
        for method, body in (("GET", None), ("HEAD", None), ("PUT", b"x"), ("DELETE", None)):
            answer = ask(larder.port, method, path("k"), body)
            assert answer.status == 503, answer.told
            if method != "HEAD":
                assert answer.json["code"] == "files_unavailable", answer.json
        # Requests that need no files succeed.
        assert ask(larder.port, "GET", "/healthz", token=None).status == 200
        assert "FAULT\tfiles: http://" in larder.doctor(), larder.doctor()
        with site.moto(moto.port):
            found = eventually(
                lambda: ask(larder.port, "GET", path("k")).status == 404 or None, 60)
            assert found, ask(larder.port, "GET", path("k")).told


def doctor_reports_whether_the_service_responds(site):
    with site.moto() as moto:
        settings = s3(moto)
        with site.service(settings) as larder:
            found = larder.doctor()
            assert re.search(r"ok\tfiles: http://\S+ responds\n", found + "\n"), found
            moto.client().delete_bucket(Bucket="pics")
            found = larder.doctor()
            assert "responds; the start will create pics" in found, found


def refuses_quotas_that_cannot_be_enforced(site):
    with site.moto() as moto:
        settings = s3(moto).replace("access: public-read", "access: public-read, quota: 1GiB")
        failed = site.service(settings)
        assert failed.process.wait(30) == 78, failed.said
        assert "cannot be enforced" in failed.said, failed.said


def names_the_bucket_in_the_host(site):
    """Names below `localhost` are this machine, and moto takes the first label for the bucket."""
    with site.moto() as moto:
        settings = s3(moto).replace("127.0.0.1", "localhost") + "  pathStyle: false\n"
        with site.service(settings) as larder:
            found = story(larder.port)
            ask(larder.port, "PUT", path("é/a b"), b"by host")
            kept = moto.client().get_object(Bucket="pics", Key="é/a b")["Body"].read()
            assert kept == b"by host", kept
            assert re.search(r"ok\tfiles: http://localhost:\d+ responds", larder.doctor())
            body = data(20 << 20)
            assert ask(larder.port, "PUT", path("long"), pieces(body)).status == 201
            assert ask(larder.port, "GET", path("long")).body == body
        said = moto.log.read_text()
    # Its log has the path as in the request: no bucket before the key.
    assert '"PUT /é/a%20b HTTP/1.1" 200' in said, said[-3000:]
    assert '"PUT /pics' not in said, said[-3000:]
    equals_the_disk(site, found)


def signs_for_the_region_of_the_bucket(site):
    """No independent server that runs here refuses a bucket of another region: moto serves it in any
    region, as rclone does. So a front refuses as S3 documents, by each bucket's region at moto; the
    rest is moto."""
    for status in (301, 400):
        for host, style in (("127.0.0.1", "true"), ("s3.us-east-1.localhost", "false")):
            with site.moto() as moto, RegionFront(moto, status) as front:
                moto.client().create_bucket(
                    Bucket="pics", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
                settings = s3(moto).replace(moto.url, f"http://{host}:{front.port}")
                with site.service(settings + f"  pathStyle: {style}\n") as larder:
                    assert ask(larder.port, "PUT", path("k"), b"far away").status == 201
                    assert ask(larder.port, "GET", path("k")).body == b"far away"
                kept = moto.client().get_object(Bucket="pics", Key="k")["Body"].read()
                assert kept == b"far away", kept
            about = [one for one in front.seen if one[0] != "s3.us-east-1.localhost"]
            assert [one[1:] for one in about[:2]] == [("us-east-1", True), ("eu-west-1", False)], about
            # Larder gets the region once, and remembers it.
            assert not any(refused for _, _, refused in about[1:]), about
            if style == "false":
                assert about[0][0] == "pics.s3.us-east-1.localhost", about
                assert {one[0] for one in about[1:]} == {"pics.s3.eu-west-1.localhost"}, about


CHECKS = (
    responds_as_with_the_disk, names_the_bucket_in_the_host,
    signs_for_the_region_of_the_bucket, stores_objects_that_other_clients_can_read,
    uploads_content_of_unknown_length_in_parts, does_not_buffer_content,
    reports_an_outage_of_the_service_and_its_end,
    doctor_reports_whether_the_service_responds, refuses_quotas_that_cannot_be_enforced,
)


def buckets():
    return f"admin: {{token: {ADMIN}}}\nfiles:\n  buckets: {{pics: {{access: public-read}}}}\n"


def s3(moto):
    return buckets() + moto.settings


class Running(Service):
    def doctor(self):
        return subprocess.run(
            [self.binary, "doctor"], cwd=self.folder, capture_output=True, text=True, timeout=120,
            env={"PATH": "/usr/bin:/bin"},
        ).stdout


class Site:
    def __init__(self, binary, folder):
        self.binary, self.folder = binary, folder

    def service(self, settings):
        return Running(self.binary, self.folder / "service", settings)

    def moto(self, port=0):
        return Moto(self.folder, port)


if __name__ == "__main__":
    run("files", __doc__, CHECKS, Site)
