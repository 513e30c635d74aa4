"""The commands that people use with S3: aws, rclone and s3cmd, each with folders of files."""

import filecmp
import json
import pathlib
import subprocess
import sys
import urllib.request

from running import REGION

TOOLS = pathlib.Path(sys.executable).parent
SECONDS_MAX = 120
LARGE_BYTES = 12 << 20


class Command:
    """A tool with its settings."""

    def __init__(self, *start, environment=None):
        self.start = start
        self.environment = {"PATH": f"{TOOLS}:/usr/bin:/bin", "HOME": "/nonexistent"}
        self.environment |= environment or {}

    def __call__(self, *arguments, status=0):
        """Runs the tool and returns its output; it must end with this status."""
        ended = subprocess.run(
            [*map(str, self.start), *map(str, arguments)], env=self.environment,
            capture_output=True, text=True, timeout=SECONDS_MAX,
        )
        said = f"{ended.stdout}\n{ended.stderr}"
        assert ended.returncode == status, f"{arguments}: {ended.returncode}\n{said[-3000:]}"
        return ended.stdout if status == 0 else said


def make_files(folder):
    """Creates a folder of files with difficult names."""
    (folder / "deep" / "er ü").mkdir(parents=True)
    (folder / "plain.txt").write_text("plain")
    (folder / "empty").write_bytes(b"")
    (folder / "deep" / "a b+c%2F&d.json").write_text("{}")
    (folder / "deep" / "er ü" / "€ 'quoted'").write_text("euro")
    (folder / "large.bin").write_bytes(bytes(range(256)) * (LARGE_BYTES // 256))
    return folder


def same(left, right):
    """Whether two folders hold the same files."""
    def files(folder):
        return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    names = files(left)
    assert names == files(right), (names, files(right))
    _, mismatch, errors = filecmp.cmpfiles(left, right, map(str, names), shallow=False)
    assert not mismatch and not errors, (mismatch, errors)


def aws(larder):
    return Command(
        TOOLS / "aws", "--cli-read-timeout", "30", "--endpoint-url", larder.url, "--region", REGION,
        environment={
            "AWS_ACCESS_KEY_ID": larder.key["accessKeyId"],
            "AWS_SECRET_ACCESS_KEY": larder.key["secretAccessKey"],
            "AWS_MAX_ATTEMPTS": "1", "AWS_EC2_METADATA_DISABLED": "true",
        },
    )


def works_with_the_aws_command(larder):
    run = aws(larder)
    folder = larder.scratch("aws")
    files = make_files(folder / "files")
    run("s3", "mb", "s3://aws-cli")
    assert "aws-cli" in run("s3", "ls")
    run("s3", "cp", "--recursive", files, "s3://aws-cli/copied/")
    assert run("s3", "ls", "--recursive", "s3://aws-cli/copied/").count("\n") == 5
    assert "PRE deep/" in run("s3", "ls", "s3://aws-cli/copied/")
    run("s3", "sync", "s3://aws-cli/copied", folder / "back")
    same(files, folder / "back")
    (files / "plain.txt").unlink()
    (files / "new.txt").write_text("new")
    said = run("s3", "sync", "--delete", files, "s3://aws-cli/copied")
    assert "delete:" in said and "upload:" in said and "large.bin" not in said, said
    run("s3", "cp", "s3://aws-cli/copied/large.bin", "s3://aws-cli/large copy")
    run("s3", "mv", "s3://aws-cli/copied/new.txt", "s3://aws-cli/moved.txt")
    head = json.loads(run("s3api", "head-object", "--bucket", "aws-cli", "--key", "large copy"))
    assert head["ContentLength"] == LARGE_BYTES
    link = run("s3", "presign", "s3://aws-cli/moved.txt").strip()
    with urllib.request.urlopen(link, timeout=SECONDS_MAX) as answer:
        assert answer.read() == b"new"
    run("s3", "rm", "--recursive", "s3://aws-cli/copied")
    assert "NoSuchKey" in run(
        "s3api", "get-object", "--bucket", "aws-cli", "--key", "none", folder / "none", status=255
    )
    run("s3", "rb", "--force", "s3://aws-cli")
    assert "aws-cli" not in run("s3", "ls")


def rclone(larder, folder):
    (folder / "rclone.conf").write_text(
        f"[larder]\ntype = s3\nprovider = Other\nendpoint = {larder.url}\nregion = {REGION}\n"
        f"access_key_id = {larder.key['accessKeyId']}\n"
        f"secret_access_key = {larder.key['secretAccessKey']}\nforce_path_style = true\n"
        "chunk_size = 5Mi\nupload_cutoff = 6Mi\ncopy_cutoff = 8Mi\n"
    )
    return Command(
        TOOLS / "rclone", "--config", folder / "rclone.conf", "--retries", "1",
        "--low-level-retries", "1",
    )


def works_with_rclone(larder):
    folder = larder.scratch("rclone")
    run = rclone(larder, folder)
    files = make_files(folder / "files")
    run("mkdir", "larder:rclone-bucket")
    run("copy", "--metadata", files, "larder:rclone-bucket/c")
    run("check", "--download", files, "larder:rclone-bucket/c")
    run("check", files, "larder:rclone-bucket/c")
    run("copy", "larder:rclone-bucket/c", folder / "back")
    same(files, folder / "back")
    assert "rclone-bucket" in run("lsd", "larder:")
    listed = json.loads(run("lsjson", "--recursive", "larder:rclone-bucket/c"))
    assert sum(not item["IsDir"] for item in listed) == 5
    times = {item["Path"]: item["ModTime"] for item in listed}
    assert times["large.bin"][:4].isdigit()
    run("copyto", "larder:rclone-bucket/c/large.bin", "larder:rclone-bucket/large too")
    run("moveto", "larder:rclone-bucket/c/plain.txt", "larder:rclone-bucket/moved.txt")
    assert run("cat", "larder:rclone-bucket/moved.txt") == "plain"
    assert run("cat", "--offset", "2", "--count", "2", "larder:rclone-bucket/moved.txt") == "ai"
    piped = subprocess.run(
        [*run.start, "rcat", "larder:rclone-bucket/piped"], input=b"x" * (7 << 20),
        env=run.environment, capture_output=True, timeout=SECONDS_MAX,
    )
    assert piped.returncode == 0, piped.stderr
    assert json.loads(run("size", "--json", "larder:rclone-bucket/piped"))["bytes"] == 7 << 20
    (files / "empty").unlink()
    run("sync", files, "larder:rclone-bucket/c")
    run("check", "--one-way", files, "larder:rclone-bucket/c")
    link = run("link", "larder:rclone-bucket/moved.txt").strip()
    with urllib.request.urlopen(link, timeout=SECONDS_MAX) as answer:
        assert answer.read() == b"plain"
    run("purge", "larder:rclone-bucket")
    assert "rclone-bucket" not in run("lsd", "larder:")


def s3cmd(larder, folder):
    host = larder.url.removeprefix("http://")
    (folder / "s3cmd.conf").write_text(
        f"[default]\naccess_key = {larder.key['accessKeyId']}\n"
        f"secret_key = {larder.key['secretAccessKey']}\nhost_base = {host}\nhost_bucket = {host}\n"
        f"bucket_location = {REGION}\nuse_https = False\nsignature_v2 = False\n"
        "multipart_chunk_size_mb = 5\nmax_retries = 1\n"
    )
    return Command(TOOLS / "s3cmd", "--config", folder / "s3cmd.conf", "--no-progress")


def works_with_s3cmd(larder):
    folder = larder.scratch("s3cmd")
    run = s3cmd(larder, folder)
    files = make_files(folder / "files")
    run("mb", "s3://s3cmd-bucket")
    assert "s3://s3cmd-bucket" in run("ls")
    run("put", "--recursive", f"{files}/", "s3://s3cmd-bucket/c/")
    listed = run("ls", "--recursive", "s3://s3cmd-bucket/c/")
    assert listed.count("s3://") == 5 and str(LARGE_BYTES) in listed, listed
    (folder / "back").mkdir()
    run("sync", "s3://s3cmd-bucket/c/", f"{folder / 'back'}/")
    same(files, folder / "back")
    assert "File size: 5" in run("info", "s3://s3cmd-bucket/c/plain.txt").replace("  ", " ")
    assert "Location:  " in run("info", "s3://s3cmd-bucket")
    run("cp", "s3://s3cmd-bucket/c/plain.txt", "s3://s3cmd-bucket/copy of it")
    run("mv", "s3://s3cmd-bucket/copy of it", "s3://s3cmd-bucket/moved")
    run("modify", "--add-header=Cache-Control: max-age=9", "s3://s3cmd-bucket/moved")
    head = larder.s3().head_object(Bucket="s3cmd-bucket", Key="moved")
    assert head["CacheControl"] == "max-age=9", head
    link = run("signurl", "s3://s3cmd-bucket/moved", "+600").strip()
    # s3cmd signs URLs with version 2, which is refused with a message that says so.
    status, _, body = larder.request("GET", link.split(larder.url.removesuffix("/s3"), 1)[-1])
    assert status in (200, 400), (link, status, body)
    run("del", "s3://s3cmd-bucket/moved")
    run("rb", "--recursive", "--force", "s3://s3cmd-bucket")
    assert "s3cmd-bucket" not in run("ls")


CHECKS = (works_with_the_aws_command, works_with_rclone, works_with_s3cmd)
