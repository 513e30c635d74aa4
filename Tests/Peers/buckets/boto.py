"""Every operation of the dialect, called with boto3."""

import base64
import concurrent.futures
import datetime
import hashlib
import http.client
import io
import urllib.parse
import zlib

import boto3.s3.transfer
import botocore
import botocore.config
import requests
from botocore.exceptions import ClientError

KEYS = ["plain.txt", "a b+c%d.txt", "ünï/çödé €😀", "x//y", "q?&=#[];:@!$'()*,", "t~-_."]
PART_BYTES = 5 << 20


def code_of(call, *arguments, **options):
    """The status and the code of a failed call."""
    try:
        answer = call(*arguments, **options)
    except ClientError as error:
        status = error.response["ResponseMetadata"]["HTTPStatusCode"]
        return status, error.response["Error"]["Code"]
    raise AssertionError(f"the call succeeded: {answer}")


def md5(content):
    return hashlib.md5(content).hexdigest()


def creates_and_lists_buckets(larder):
    s3 = larder.s3()
    s3.create_bucket(
        Bucket="first", CreateBucketConfiguration={"LocationConstraint": "eu-north-1"}
    )
    s3.create_bucket(Bucket="second")
    assert code_of(s3.create_bucket, Bucket="first") == (409, "BucketAlreadyOwnedByYou")
    assert code_of(s3.create_bucket, Bucket="Not_Good") == (400, "InvalidBucketName")
    listed = s3.list_buckets()
    names = [bucket["Name"] for bucket in listed["Buckets"]]
    assert names == ["first", "own", "second", "shown", "small"], names
    assert listed["Owner"]["ID"] and listed["Buckets"][0]["CreationDate"].year >= 2024
    assert s3.head_bucket(Bucket="first")["ResponseMetadata"]["HTTPStatusCode"] == 200
    assert code_of(s3.head_bucket, Bucket="nowhere") == (404, "404")
    assert s3.get_bucket_location(Bucket="first")["LocationConstraint"] == "eu-north-1"
    s3.put_object(Bucket="second", Key="x", Body=b"x")
    assert code_of(s3.delete_bucket, Bucket="second") == (409, "BucketNotEmpty")
    s3.delete_object(Bucket="second", Key="x")
    s3.delete_bucket(Bucket="second")
    assert code_of(s3.delete_bucket, Bucket="second") == (404, "NoSuchBucket")


def returns_the_settings_of_buckets(larder):
    s3 = larder.s3()
    s3.create_bucket(Bucket="asked")
    assert "Status" not in s3.get_bucket_versioning(Bucket="asked")
    assert s3.get_bucket_acl(Bucket="asked")["Grants"][0]["Permission"] == "FULL_CONTROL"
    assert s3.get_bucket_request_payment(Bucket="asked")["Payer"] == "BucketOwner"
    assert "LoggingEnabled" not in s3.get_bucket_logging(Bucket="asked")
    for call, code in (
        (s3.get_bucket_policy, "NoSuchBucketPolicy"),
        (s3.get_bucket_cors, "NoSuchCORSConfiguration"),
        (s3.get_bucket_lifecycle_configuration, "NoSuchLifecycleConfiguration"),
        (s3.get_bucket_tagging, "NoSuchTagSet"),
        (s3.get_bucket_website, "NoSuchWebsiteConfiguration"),
        (s3.get_bucket_encryption, "ServerSideEncryptionConfigurationNotFoundError"),
        (s3.get_object_lock_configuration, "ObjectLockConfigurationNotFoundError"),
    ):
        assert code_of(call, Bucket="asked") == (404, code)
    assert code_of(
        s3.put_bucket_versioning, Bucket="asked", VersioningConfiguration={"Status": "Enabled"}
    ) == (501, "NotImplemented")
    assert code_of(s3.get_bucket_policy, Bucket="nowhere") == (404, "NoSuchBucket")


def puts_and_gets_objects(larder):
    s3 = larder.s3()
    s3.create_bucket(Bucket="objects")
    for number, key in enumerate(KEYS):
        content = bytes([number]) * (number * 9_000)
        put = s3.put_object(
            Bucket="objects", Key=key, Body=content, ContentType="text/x-test",
            Metadata={"colour": "green", "n": str(number)}, CacheControl="max-age=7",
            ContentDisposition='attachment; filename="f"', ContentLanguage="sv",
        )
        assert put["ETag"] == f'"{md5(content)}"'
        got = s3.get_object(Bucket="objects", Key=key)
        assert got["Body"].read() == content
        head = s3.head_object(Bucket="objects", Key=key)
        for answer in (got, head):
            assert answer["ContentLength"] == len(content)
            assert answer["ContentType"] == "text/x-test"
            assert answer["Metadata"] == {"colour": "green", "n": str(number)}
            assert answer["CacheControl"] == "max-age=7" and answer["ContentLanguage"] == "sv"
            assert answer["ContentDisposition"] == 'attachment; filename="f"'
            assert answer["ETag"] == put["ETag"]
    listed = [item["Key"] for item in s3.list_objects_v2(Bucket="objects")["Contents"]]
    assert listed == sorted(KEYS, key=lambda key: key.encode()), listed
    for key in KEYS:
        s3.delete_object(Bucket="objects", Key=key)
        s3.delete_object(Bucket="objects", Key=key)
        assert code_of(s3.get_object, Bucket="objects", Key=key) == (404, "NoSuchKey")
        assert code_of(s3.head_object, Bucket="objects", Key=key) == (404, "404")
    assert s3.list_objects_v2(Bucket="objects")["KeyCount"] == 0
    for key in ("a/../b", "./c", "d/."):
        assert code_of(s3.put_object, Bucket="objects", Key=key, Body=b"")[1] in (
            "InvalidArgument", "SignatureDoesNotMatch",
        )
    assert code_of(s3.put_object, Bucket="objects", Key="k" * 1025, Body=b"") == (
        400, "KeyTooLongError",
    )
    assert code_of(s3.put_object, Bucket="nowhere", Key="k", Body=b"") == (404, "NoSuchBucket")
    assert code_of(
        s3.put_object, Bucket="objects", Key="k", Body=b"", Metadata={"a": "x" * 2050}
    ) == (400, "MetadataTooLarge")


def reads_ranges_and_conditionally(larder):
    s3 = larder.s3()
    s3.create_bucket(Bucket="ranges")
    content = bytes(range(256)) * 400
    tag = s3.put_object(Bucket="ranges", Key="r", Body=content)["ETag"]

    def get(**options):
        return s3.get_object(Bucket="ranges", Key="r", **options)

    for text, expected in (
        ("bytes=0-9", content[:10]), ("bytes=102390-", content[-10:]), ("bytes=-5", content[-5:]),
        ("bytes=7-70000", content[7:70001]),
    ):
        got = get(Range=text)
        assert got["ResponseMetadata"]["HTTPStatusCode"] == 206
        assert got["Body"].read() == expected and got["ContentLength"] == len(expected)
        assert got["ContentRange"].endswith("/102400")
    assert code_of(get, Range="bytes=102400-") == (416, "InvalidRange")
    assert get(Range="bytes=0-1,5-6")["ResponseMetadata"]["HTTPStatusCode"] == 200
    modified = get()["LastModified"]
    later = modified + datetime.timedelta(seconds=5)
    earlier = modified - datetime.timedelta(seconds=5)
    assert code_of(get, IfMatch='"no"') == (412, "PreconditionFailed")
    assert code_of(get, IfNoneMatch=tag)[0] == 304
    assert code_of(get, IfModifiedSince=later)[0] == 304
    assert code_of(get, IfUnmodifiedSince=earlier) == (412, "PreconditionFailed")
    assert get(IfMatch=tag, IfUnmodifiedSince=earlier)["ETag"] == tag
    assert code_of(s3.head_object, Bucket="ranges", Key="r", IfMatch='"no"')[0] == 412
    assert code_of(s3.head_object, Bucket="ranges", Key="r", IfNoneMatch=tag)[0] == 304
    got = get(ResponseContentType="a/b", ResponseContentDisposition="inline")
    assert got["ContentType"] == "a/b" and got["ContentDisposition"] == "inline"


def writes_conditionally(larder):
    s3 = larder.s3()
    s3.create_bucket(Bucket="conditions")

    def put(**options):
        return s3.put_object(Bucket="conditions", Key="c", Body=b"1", **options)

    tag = put(IfNoneMatch="*")["ETag"]
    assert code_of(put, IfNoneMatch="*") == (412, "PreconditionFailed")
    assert code_of(put, IfMatch='"no"') == (412, "PreconditionFailed")
    assert code_of(put, IfNoneMatch=tag) == (412, "PreconditionFailed")
    # Many clients strip the quotes.
    bare = tag.strip('"')
    assert code_of(put, IfNoneMatch=bare) == (412, "PreconditionFailed")
    assert code_of(put, IfMatch="badetag") == (412, "PreconditionFailed")
    assert code_of(
        s3.delete_object, Bucket="conditions", Key="c", IfMatch="badetag"
    ) == (412, "PreconditionFailed")
    assert code_of(
        s3.copy_object, Bucket="conditions", Key="d", CopySourceIfMatch="badetag",
        CopySource={"Bucket": "conditions", "Key": "c"},
    ) == (412, "PreconditionFailed")
    assert code_of(s3.get_object, Bucket="conditions", Key="c", IfNoneMatch=bare)[0] == 304
    put(IfMatch=bare)
    put(IfMatch=tag)
    assert code_of(s3.delete_object, Bucket="conditions", Key="c", IfMatch='"no"')[0] == 412
    # An object that does not exist has no tag.
    source = {"Bucket": "conditions", "Key": "c"}
    for call, options in (
        (s3.put_object, {"Body": b"1"}), (s3.copy_object, {"CopySource": source}),
    ):
        for bucket, expected in (("conditions", "NoSuchKey"), ("nowhere", "NoSuchBucket")):
            answer = code_of(call, Bucket=bucket, Key="none", IfMatch=tag, **options)
            assert answer == (404, expected), (options, answer)
    # A missing bucket is missing under any condition.
    s3.delete_object(Bucket="conditions", Key="none", IfMatch=tag)
    missing = code_of(s3.delete_object, Bucket="nowhere", Key="none", IfMatch=tag)
    assert missing == (404, "NoSuchBucket"), missing
    assert code_of(s3.head_object, Bucket="conditions", Key="none")[0] == 404


def lets_one_concurrent_writer_win(larder):
    s3 = larder.s3()
    s3.create_bucket(Bucket="races")

    def race(number):
        try:
            s3.put_object(Bucket="races", Key="race", Body=str(number), IfNoneMatch="*")
            return True
        except ClientError as error:
            assert error.response["Error"]["Code"] == "PreconditionFailed"
            return False

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(race, range(16))) == 1


def lists_pages(larder):
    s3 = larder.s3()
    s3.create_bucket(Bucket="pages")
    keys = [f"{folder}/{n:02}" for folder in ("a", "b c", "d+e") for n in range(7)] + ["z", "é"]
    for key in keys:
        s3.put_object(Bucket="pages", Key=key, Body=b"1")
    ordered = sorted(keys, key=lambda key: key.encode())
    for operation in ("list_objects_v2", "list_objects"):
        pages = s3.get_paginator(operation).paginate
        for size in (1, 4, 1000):
            found = [
                item["Key"]
                for page in pages(Bucket="pages", PaginationConfig={"PageSize": size})
                for item in page.get("Contents", [])
            ]
            assert found == ordered, (operation, size, found)
            tops, folders = [], []
            for page in pages(Bucket="pages", Delimiter="/", PaginationConfig={"PageSize": size}):
                tops += [item["Key"] for item in page.get("Contents", [])]
                folders += [prefix["Prefix"] for prefix in page.get("CommonPrefixes", [])]
            assert tops == ["z", "é"], (operation, size, tops)
            assert folders == ["a/", "b c/", "d+e/"], (operation, size, folders)
        under = getattr(s3, operation)(Bucket="pages", Prefix="d+e/")["Contents"]
        assert [item["Key"] for item in under] == [key for key in ordered if key.startswith("d+e/")]
        assert under[0]["Size"] == 1 and under[0]["ETag"] == f'"{md5(b"1")}"'
        assert code_of(getattr(s3, operation), Bucket="nowhere") == (404, "NoSuchBucket")
    after = s3.list_objects_v2(Bucket="pages", StartAfter="d+e/05", FetchOwner=True)["Contents"]
    assert [item["Key"] for item in after] == ["d+e/06", "z", "é"] and after[0]["Owner"]["ID"]
    assert code_of(
        s3.list_objects_v2, Bucket="pages", ContinuationToken="not one"
    ) == (400, "InvalidArgument")


def deletes_many(larder):
    s3 = larder.s3()
    s3.create_bucket(Bucket="many")
    keys = [f"k {n} <&>\"é" for n in range(120)]
    for key in keys:
        s3.put_object(Bucket="many", Key=key, Body=b"")
    objects = [{"Key": key} for key in keys[:60]] + [{"Key": "none"}]
    deleted = s3.delete_objects(Bucket="many", Delete={"Objects": objects})
    assert [item["Key"] for item in deleted["Deleted"]] == [item["Key"] for item in objects]
    wrong = [{"Key": keys[60], "VersionId": "7"}, {"Key": "../up"}, {"Key": keys[61]}]
    deleted = s3.delete_objects(Bucket="many", Delete={"Objects": wrong, "Quiet": True})
    assert "Deleted" not in deleted
    assert [error["Code"] for error in deleted["Errors"]] == ["NoSuchVersion", "InvalidArgument"]
    left = {item["Key"] for item in s3.list_objects_v2(Bucket="many")["Contents"]}
    assert left == set(keys[60:]) - {keys[61]}


def accepts_the_longest_documents(larder):
    s3 = larder.s3()
    s3.create_bucket(Bucket="longest")
    long = [{"Key": f"{number:04}" + "&" * 1000} for number in range(1000)]
    assert len(s3.delete_objects(Bucket="longest", Delete={"Objects": long})["Deleted"]) == 1000


def copies(larder):
    s3 = larder.s3()
    s3.create_bucket(Bucket="copies")
    s3.put_object(
        Bucket="copies", Key="f/ö +%", Body=b"copied", ContentType="a/a", Metadata={"m": "1"}
    )
    source = {"Bucket": "copies", "Key": "f/ö +%"}
    copy = s3.copy_object(Bucket="copies", Key="two", CopySource=source)["CopyObjectResult"]
    assert copy["ETag"] == f'"{md5(b"copied")}"' and copy["LastModified"]
    head = s3.head_object(Bucket="copies", Key="two")
    assert head["ContentType"] == "a/a" and head["Metadata"] == {"m": "1"}
    s3.copy_object(
        Bucket="copies", Key="two", CopySource=source, MetadataDirective="REPLACE",
        ContentType="b/b", Metadata={"n": "2"},
    )
    head = s3.head_object(Bucket="copies", Key="two")
    assert head["ContentType"] == "b/b" and head["Metadata"] == {"n": "2"}
    assert code_of(
        s3.copy_object, Bucket="copies", Key=source["Key"], CopySource=source
    ) == (400, "InvalidRequest")
    for options, expected in (
        ({"CopySourceIfMatch": '"no"'}, (412, "PreconditionFailed")),
        ({"CopySourceIfNoneMatch": copy["ETag"]}, (412, "PreconditionFailed")),
        ({"CopySource": "copies/none"}, (404, "NoSuchKey")),
        ({"CopySource": "nowhere/none"}, (404, "NoSuchBucket")),
        ({"IfNoneMatch": "*"}, (412, "PreconditionFailed")),
    ):
        arguments = {"Bucket": "copies", "Key": "two", "CopySource": source, **options}
        assert code_of(s3.copy_object, **arguments) == expected, options
    s3.copy_object(
        Bucket="copies", Key="three", CopySource=source, CopySourceIfMatch=copy["ETag"]
    )


def uploads_in_parts(larder):
    s3 = larder.s3()
    s3.create_bucket(Bucket="parts")
    begun = s3.create_multipart_upload(
        Bucket="parts", Key="p q", ContentType="p/p", Metadata={"k": "v"}
    )
    address = {"Bucket": "parts", "Key": "p q", "UploadId": begun["UploadId"]}
    contents = [b"1" * PART_BYTES, b"2" * PART_BYTES, b"3" * 77]
    tags = {}
    for number in (2, 1, 3):
        body = contents[number - 1]
        part = s3.upload_part(**address, PartNumber=number, Body=io.BytesIO(body))
        assert part["ETag"] == f'"{md5(body)}"'
        tags[number] = part["ETag"]
    listed = s3.list_parts(**address, MaxParts=2)
    assert [part["PartNumber"] for part in listed["Parts"]] == [1, 2] and listed["IsTruncated"]
    rest = s3.list_parts(**address, PartNumberMarker=listed["NextPartNumberMarker"])
    assert [(part["PartNumber"], part["Size"]) for part in rest["Parts"]] == [(3, 77)]
    uploads = s3.list_multipart_uploads(Bucket="parts", Prefix="p")["Uploads"]
    assert [upload["UploadId"] for upload in uploads] == [begun["UploadId"]]

    def complete(*parts, **options):
        named = [{"PartNumber": number, "ETag": tag} for number, tag in parts]
        return s3.complete_multipart_upload(
            **address, MultipartUpload={"Parts": named}, **options
        )

    assert code_of(complete, (1, '"no"')) == (400, "InvalidPart")
    assert code_of(complete, (2, tags[2]), (1, tags[1])) == (400, "InvalidPartOrder")
    assert code_of(complete, (3, tags[3]), (4, tags[1]))[1] in ("InvalidPart", "EntityTooSmall")
    assert code_of(complete) == (400, "MalformedXML")
    assert code_of(
        complete, *sorted(tags.items()), IfMatch='"no"'
    ) == (404, "NoSuchKey")
    s3.put_object(Bucket="parts", Key="p q", Body=b"before")
    assert code_of(
        complete, *sorted(tags.items()), IfMatch='"no"'
    ) == (412, "PreconditionFailed")
    assert code_of(
        complete, *sorted(tags.items()), IfNoneMatch="*"
    ) == (412, "PreconditionFailed")
    done = complete(*sorted(tags.items()))
    joined = hashlib.md5(b"".join(hashlib.md5(body).digest() for body in contents)).hexdigest()
    assert done["ETag"] == f'"{joined}-3"' and done["Key"] == "p q"
    got = s3.get_object(Bucket="parts", Key="p q")
    assert got["Body"].read() == b"".join(contents)
    assert got["ContentType"] == "p/p" and got["Metadata"] == {"k": "v"}
    assert code_of(s3.upload_part, **address, PartNumber=1, Body=b"") == (404, "NoSuchUpload")
    # A client whose response was lost completes again.
    assert complete(*sorted(tags.items()))["ETag"] == done["ETag"]
    if larder.service is None:
        part = s3.get_object(Bucket="parts", Key="p q", PartNumber=2)
        assert part["Body"].read() == contents[1] and part["PartsCount"] == 3
        assert s3.head_object(Bucket="parts", Key="p q", PartNumber=3)["ContentLength"] == 77
        assert code_of(
            s3.get_object, Bucket="parts", Key="p q", PartNumber=4
        ) == (400, "InvalidPart")

    # Parts copied from stored objects, and an aborted upload.
    address["UploadId"] = s3.create_multipart_upload(Bucket="parts", Key="p q")["UploadId"]
    copy = s3.upload_part_copy(
        **address, PartNumber=1, CopySource={"Bucket": "parts", "Key": "p q"},
        CopySourceRange=f"bytes={PART_BYTES - 3}-{PART_BYTES + 2}",
    )["CopyPartResult"]
    assert copy["ETag"] == f'"{md5(b"111222")}"'
    complete((1, copy["ETag"]))
    assert s3.get_object(Bucket="parts", Key="p q")["Body"].read() == b"111222"
    address["UploadId"] = s3.create_multipart_upload(Bucket="parts", Key="gone")["UploadId"]
    s3.upload_part(**address | {"Key": "gone"}, PartNumber=1, Body=b"x")
    s3.abort_multipart_upload(**address | {"Key": "gone"})
    assert "Uploads" not in s3.list_multipart_uploads(Bucket="parts")
    assert code_of(
        s3.upload_part_copy, Bucket="parts", Key="p q", PartNumber=1,
        UploadId=s3.create_multipart_upload(Bucket="parts", Key="p q")["UploadId"],
        CopySource={"Bucket": "parts", "Key": "p q"}, CopySourceRange="bytes=0-99",
    ) == (416, "InvalidRange")
    assert code_of(
        s3.abort_multipart_upload, **address | {"Key": "gone"}
    ) == (404, "NoSuchUpload")


def transfers_files(larder):
    """As most programs do, with the transfer manager: in parts, many at a time."""
    s3 = larder.s3()
    s3.create_bucket(Bucket="transfers")
    content = bytes(range(251)) * 90_000
    config = boto3.s3.transfer.TransferConfig(
        multipart_threshold=PART_BYTES, multipart_chunksize=PART_BYTES, max_concurrency=4
    )
    s3.upload_fileobj(io.BytesIO(content), "transfers", "large", Config=config)
    received = io.BytesIO()
    s3.download_fileobj("transfers", "large", received, Config=config)
    assert received.getvalue() == content
    s3.copy({"Bucket": "transfers", "Key": "large"}, "transfers", "copy", Config=config)
    assert s3.head_object(Bucket="transfers", Key="copy")["ContentLength"] == len(content)


def checks_digests(larder):
    s3 = larder.s3()
    s3.create_bucket(Bucket="digests")

    def put(body=b"content", **options):
        return s3.put_object(Bucket="digests", Key="d", Body=body, **options)

    good = put()
    wrong = base64.b64encode(hashlib.md5(b"other").digest()).decode()
    assert code_of(put, b"x", ContentMD5=wrong) == (400, "BadDigest")
    assert code_of(put, b"x", ContentMD5="AAAA") == (400, "InvalidDigest")
    for algorithm in ("CRC32", "SHA1", "SHA256"):
        stored = put(ChecksumAlgorithm=algorithm)
        name = f"Checksum{algorithm}"
        head = s3.head_object(Bucket="digests", Key="d", ChecksumMode="ENABLED")
        assert stored[name] and head[name] == stored[name]
        got = s3.get_object(Bucket="digests", Key="d", ChecksumMode="ENABLED")
        assert got["Body"].read() == b"content" and got[name] == stored[name]
    assert put(ChecksumCRC32C=crc32c_of_content())["ChecksumCRC32C"] == crc32c_of_content()
    crc32 = base64.b64encode(zlib.crc32(b"other").to_bytes(4)).decode()
    assert code_of(put, b"x", ChecksumCRC32=crc32) == (400, "BadDigest")
    assert code_of(put, b"x", ChecksumCRC32="x") == (400, "InvalidRequest")
    got = s3.get_object(Bucket="digests", Key="d")
    assert got["Body"].read() == b"content" and got["ETag"] == good["ETag"]
    described = s3.get_object_attributes(
        Bucket="digests", Key="d", ObjectAttributes=["ETag", "ObjectSize", "Checksum"]
    )
    assert described["ObjectSize"] == 7 and described["ETag"] == good["ETag"].strip('"')
    assert described["Checksum"]["ChecksumCRC32C"] == crc32c_of_content()


def crc32c_of_content():
    """CRC-32C of `content`, bit by bit."""
    value = 0xFFFFFFFF
    for byte in b"content":
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return base64.b64encode((value ^ 0xFFFFFFFF).to_bytes(4)).decode()


def accepts_presigned_urls(larder):
    s3 = larder.s3()
    s3.create_bucket(Bucket="presigned")

    def ask(method, url, body=None, headers=None):
        parts = urllib.parse.urlsplit(url)
        return larder.request(method, f"{parts.path}?{parts.query}", body, headers)

    def sign(operation, key="p +ö", seconds=60, **more):
        return s3.generate_presigned_url(
            operation, {"Bucket": "presigned", "Key": key, **more}, ExpiresIn=seconds
        )

    assert ask("PUT", sign("put_object"), b"by link")[0] == 200
    status, fields, body = ask("GET", sign("get_object", ResponseContentType="text/x-y"))
    assert (status, body, fields["content-type"]) == (200, b"by link", "text/x-y")
    assert ask("HEAD", sign("head_object"))[0] == 200
    good = sign("get_object")
    for url, status, code in (
        (good.replace("X-Amz-Expires=60", "X-Amz-Expires=61"), 403, b"SignatureDoesNotMatch"),
        (good.replace("/presigned/", "/digests/"), 403, b"SignatureDoesNotMatch"),
        (good[:-1] + ("0" if good[-1] != "0" else "1"), 403, b"SignatureDoesNotMatch"),
        (good.replace("X-Amz-Expires=60", "X-Amz-Expires=604801"), 400,
         b"AuthorizationQueryParametersError"),
        (good.split("&X-Amz-Signature")[0], 400, b"AuthorizationQueryParametersError"),
    ):
        answer = ask("GET", url)
        assert answer[0] == status and code in answer[2], (url, answer)
    assert ask("DELETE", good)[0] == 403
    assert ask("GET", good, headers={"x-amz-acl": "private"})[0] == 403
    assert ask("DELETE", sign("delete_object"))[0] == 204
    old = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=120)
    answer = ask("GET", presigned_at(larder, old, seconds=60))
    assert answer[0] == 403 and b"AccessDenied" in answer[2] and b"expired" in answer[2], answer
    soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
    assert ask("GET", presigned_at(larder, soon, seconds=60))[0] == 403


def presigned_at(larder, moment, seconds):
    """A URL signed for another time, by botocore's signer."""
    import unittest.mock

    import botocore.auth

    with unittest.mock.patch.object(
        botocore.auth, "get_current_datetime", lambda *_, **__: moment.replace(tzinfo=None)
    ):
        return larder.s3().generate_presigned_url(
            "get_object", {"Bucket": "presigned", "Key": "x"}, ExpiresIn=seconds
        )


def enforces_the_scope_of_a_key(larder):
    s3 = larder.s3()
    s3.create_bucket(Bucket="mine")
    s3.create_bucket(Bucket="other")
    for bucket in ("mine", "other"):
        s3.put_object(Bucket=bucket, Key="k", Body=b"k")
    reading = larder.issue(buckets=["mine"], readOnly=True)
    reader = larder.s3(reading)
    assert [bucket["Name"] for bucket in reader.list_buckets()["Buckets"]] == ["mine"]
    assert reader.get_object(Bucket="mine", Key="k")["Body"].read() == b"k"
    denied = (403, "AccessDenied")
    assert code_of(reader.get_object, Bucket="other", Key="k") == denied
    assert code_of(reader.put_object, Bucket="mine", Key="k", Body=b"") == denied
    assert code_of(reader.delete_object, Bucket="mine", Key="k") == denied
    assert code_of(reader.create_bucket, Bucket="fresh") == denied
    half = larder.s3(larder.issue(buckets=["mine"]))
    assert code_of(
        half.copy_object, Bucket="mine", Key="c", CopySource="other/k"
    ) == denied
    assert larder.revoke(reading) == 204 and larder.revoke(reading) == 404
    assert code_of(reader.get_object, Bucket="mine", Key="k") == (403, "InvalidAccessKeyId")
    keys = larder.admin("GET", "/v1/admin/s3/keys")[1]["keys"]
    listed = {key["accessKeyId"]: key for key in keys}
    assert listed[reading["accessKeyId"]]["revokedAt"]
    assert all("secretAccessKey" not in key for key in listed.values())
    status, answer = larder.admin("POST", "/v1/admin/sql", {"sql": "SELECT * FROM s3_key"})
    assert reading["secretAccessKey"] not in str(answer), answer
    assert larder.admin("POST", "/v1/admin/s3/keys", {"buckets": ["No"], "x": 1})[0] == 400
    assert larder.request("POST", "/v1/admin/s3/keys")[0] == 401


def gives_users_their_own_prefix(larder):
    first, second = (larder.s3(larder.issue(userId=name)) for name in ("u 1", "u2"))
    first.put_object(Bucket="own", Key="u 1/a/b", Body=b"1")
    second.put_object(Bucket="own", Key="u2/c", Body=b"2")
    denied = (403, "AccessDenied")
    assert code_of(first.get_object, Bucket="own", Key="u2/c") == denied
    assert code_of(first.put_object, Bucket="own", Key="x", Body=b"") == denied
    assert code_of(first.list_objects_v2, Bucket="own", Prefix="u2/") == denied
    assert [item["Key"] for item in first.list_objects_v2(Bucket="own")["Contents"]] == ["u 1/a/b"]
    folders = first.list_objects_v2(Bucket="own", Delimiter="/")
    assert [folder["Prefix"] for folder in folders["CommonPrefixes"]] == ["u 1/"]
    folders = first.list_objects_v2(Bucket="own", Delimiter="/", Prefix="u 1/")
    assert [folder["Prefix"] for folder in folders["CommonPrefixes"]] == ["u 1/a/"]
    assert [bucket["Name"] for bucket in first.list_buckets()["Buckets"]] == ["own", "shown"]
    assert code_of(first.list_objects_v2, Bucket="small") == denied
    gone = first.delete_objects(Bucket="own", Delete={"Objects": [{"Key": "u2/c"}]})
    assert gone["Errors"][0]["Code"] == "AccessDenied"


def enforces_quotas(larder):
    first = larder.s3(larder.issue(userId="u 1"))
    for s3, bucket, key, count in (
        (first, "own", "u 1/big", (1 << 20) + 1), (larder.s3(), "small", "q", 70_000),
    ):
        refused = code_of(s3.put_object, Bucket=bucket, Key=key, Body=b"x" * count)
        assert refused == (403, "QuotaExceeded"), (bucket, refused)
        assert code_of(s3.head_object, Bucket=bucket, Key=key)[0] == 404


def serves_public_buckets_unsigned(larder):
    larder.s3().put_object(Bucket="shown", Key="s", Body=b"seen", ContentType="text/html")
    anyone = larder.s3(signature_version=botocore.UNSIGNED)
    got = anyone.get_object(Bucket="shown", Key="s")
    assert got["Body"].read() == b"seen"
    assert "sandbox" in got["ResponseMetadata"]["HTTPHeaders"]["content-security-policy"]
    assert anyone.list_objects_v2(Bucket="shown")["KeyCount"] == 1
    for call, options in (
        (anyone.put_object, {"Bucket": "shown", "Key": "s", "Body": b""}),
        (anyone.get_object, {"Bucket": "small", "Key": "s"}), (anyone.list_buckets, {}),
    ):
        assert code_of(call, **options) == (403, "AccessDenied")
    assert code_of(
        anyone.get_object, Bucket="shown", Key="s", ResponseContentType="text/plain"
    ) == (400, "InvalidRequest")


def refuses_unsupported_operations(larder):
    s3 = larder.s3()
    s3.create_bucket(Bucket="refused")

    def put(**options):
        return s3.put_object(Bucket="refused", Key="r", Body=b"r", **options)

    assert code_of(put, ACL="public-read") == (400, "AccessControlListNotSupported")
    put(ACL="private", StorageClass="STANDARD")
    assert code_of(put, StorageClass="GLACIER") == (400, "InvalidStorageClass")
    assert put(ServerSideEncryption="AES256")["ServerSideEncryption"] == "AES256"
    head = s3.head_object(Bucket="refused", Key="r")
    assert head["ServerSideEncryption"] == "AES256"
    assert code_of(put, ServerSideEncryption="aws:kms") == (501, "NotImplemented")
    s3.put_object_acl(Bucket="refused", Key="r", ACL="private")
    assert code_of(
        s3.put_object_acl, Bucket="refused", Key="r", ACL="public-read"
    ) == (400, "AccessControlListNotSupported")
    assert code_of(
        s3.create_bucket, Bucket="locked", ObjectLockEnabledForBucket=True
    ) == (501, "NotImplemented")
    assert code_of(
        s3.create_bucket, Bucket="owned", ObjectOwnership="BucketOwnerPreferred"
    ) == (501, "NotImplemented")
    assert code_of(
        s3.get_object, Bucket="refused", Key="r", ExpectedBucketOwner="123456789012"
    ) == (403, "AccessDenied")
    # Unknown operations are not mistaken for known ones.
    for call in (s3.get_bucket_policy_status, s3.delete_bucket_policy):
        assert code_of(call, Bucket="refused")[0] in (404, 501)
    assert s3.get_object(Bucket="refused", Key="r")["Body"].read() == b"r"
    assert s3.get_object_acl(Bucket="refused", Key="r")["Owner"]["ID"]
    assert code_of(
        s3.get_object, Bucket="refused", Key="r", VersionId="7"
    ) == (404, "NoSuchVersion")
    versions = s3.list_object_versions(Bucket="refused")["Versions"]
    assert [(each["Key"], each["VersionId"]) for each in versions] == [("r", "null")]
    s3.create_multipart_upload(Bucket="refused", Key="never")
    s3.delete_objects(
        Bucket="refused",
        Delete={"Objects": [{"Key": each["Key"], "VersionId": "null"} for each in versions]},
    )
    s3.delete_bucket(Bucket="refused")


def stores_tags(larder):
    s3 = larder.s3()
    s3.create_bucket(Bucket="tags")
    s3.put_object(Bucket="tags", Key="t", Body=b"t", Tagging="a=b&c=d%20e")

    def tags(key="t"):
        return s3.get_object_tagging(Bucket="tags", Key=key)["TagSet"]

    first = [{"Key": "a", "Value": "b"}, {"Key": "c", "Value": "d e"}]
    assert tags() == first
    if larder.service is None:
        assert s3.head_object(Bucket="tags", Key="t")["TagCount"] == 2
    source = {"Bucket": "tags", "Key": "t"}
    s3.copy_object(Bucket="tags", Key="same", CopySource=source, TaggingDirective="COPY")
    assert tags("same") == first
    s3.copy_object(
        Bucket="tags", Key="own", CopySource=source, TaggingDirective="REPLACE", Tagging="x=y"
    )
    other = [{"Key": "x", "Value": "y"}]
    assert tags("own") == other
    s3.put_object_tagging(Bucket="tags", Key="t", Tagging={"TagSet": other})
    assert tags() == other
    many = [{"Key": str(number), "Value": ""} for number in range(11)]
    assert code_of(
        s3.put_object_tagging, Bucket="tags", Key="t", Tagging={"TagSet": many}
    ) == (400, "InvalidTag")
    s3.delete_object_tagging(Bucket="tags", Key="t")
    assert tags() == []
    assert code_of(
        s3.put_object_tagging, Bucket="tags", Key="none", Tagging={"TagSet": other}
    ) == (404, "NoSuchKey")


def stores_settings_of_buckets(larder):
    s3 = larder.s3()
    s3.create_bucket(Bucket="settings")
    rule = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}

    def encrypt(rule=rule):
        return s3.put_bucket_encryption(
            Bucket="settings", ServerSideEncryptionConfiguration={"Rules": [rule]}
        )

    other = {"ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "aws:kms"}}
    assert code_of(encrypt, other) == (501, "NotImplemented")
    if larder.service is not None:
        assert code_of(encrypt) == (501, "NotImplemented")
        return
    s3.put_object(Bucket="settings", Key="before", Body=b"1")
    encrypt()
    s3.put_object(Bucket="settings", Key="after", Body=b"1")
    assert "ServerSideEncryption" not in s3.head_object(Bucket="settings", Key="before")
    head = s3.head_object(Bucket="settings", Key="after")
    assert head["ServerSideEncryption"] == "AES256"
    s3.delete_bucket_encryption(Bucket="settings")
    assert code_of(s3.get_bucket_encryption, Bucket="settings")[0] == 404
    tags = [{"Key": "a", "Value": "b"}]
    s3.put_bucket_tagging(Bucket="settings", Tagging={"TagSet": tags})
    assert s3.get_bucket_tagging(Bucket="settings")["TagSet"] == tags
    s3.delete_bucket_tagging(Bucket="settings")
    assert code_of(s3.get_bucket_tagging, Bucket="settings") == (404, "NoSuchTagSet")


def lists_in_pages_and_groups(larder):
    s3 = larder.s3()
    for name in ("page-a", "page-b", "page-c"):
        s3.create_bucket(Bucket=name)
    pages = s3.get_paginator("list_buckets").paginate(
        Prefix="page-", PaginationConfig={"PageSize": 2}
    )
    names = [[bucket["Name"] for bucket in page["Buckets"]] for page in pages]
    assert names == [["page-a", "page-b"], ["page-c"]], names
    for key in ("a/1", "a/2", "b/1", "c"):
        s3.create_multipart_upload(Bucket="page-a", Key=key)
    listed = s3.list_multipart_uploads(Bucket="page-a", Delimiter="/")
    assert [each["Prefix"] for each in listed["CommonPrefixes"]] == ["a/", "b/"]
    assert [each["Key"] for each in listed["Uploads"]] == ["c"]


def accepts_forms(larder):
    s3 = larder.s3()
    s3.create_bucket(Bucket="forms")
    form = s3.generate_presigned_post(
        "forms", "u/${filename}", Fields={"acl": "private", "Content-Type": "text/plain"},
        Conditions=[
            {"acl": "private"}, {"Content-Type": "text/plain"}, ["content-length-range", 1, 10],
        ],
    )

    def send(body, **more):
        return requests.post(
            form["url"], data={**form["fields"], **more}, files={"file": ("f.txt", body)},
            timeout=30,
        )

    assert send(b"content").status_code == 204
    assert s3.get_object(Bucket="forms", Key="u/f.txt")["Body"].read() == b"content"
    assert send(b"too much content").status_code == 400
    assert send(b"content", **{"x-amz-meta-a": "b"}).status_code == 403
    assert send(b"content", policy="e30=").status_code == 403
    assert s3.get_object(Bucket="forms", Key="u/f.txt")["Body"].read() == b"content"


CHECKS = (
    creates_and_lists_buckets, returns_the_settings_of_buckets, puts_and_gets_objects,
    reads_ranges_and_conditionally, writes_conditionally, lets_one_concurrent_writer_win,
    lists_pages, deletes_many, accepts_the_longest_documents, copies, uploads_in_parts,
    transfers_files, checks_digests, accepts_presigned_urls, enforces_the_scope_of_a_key,
    gives_users_their_own_prefix, enforces_quotas, serves_public_buckets_unsigned,
    refuses_unsupported_operations, stores_tags, stores_settings_of_buckets,
    lists_in_pages_and_groups, accepts_forms,
)
