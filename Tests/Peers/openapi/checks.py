"""The OpenAPI document against tools of other make.

openapi-spec-validator, schemathesis (requests that the document describes, and such as it does not, to every route;
with states), openapi-generator for Swift, Kotlin and TypeScript, of whose clients those in Swift and TypeScript are
compiled, and openapi-python-client, whose client then runs against the service. `larder generate typescript` is
compiled, too; what it makes in Swift and Kotlin is compiled by GenerationTests.

  checks.py --binary LARDER --folder FOLDER [--tally FILE] [--only NAME]
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from check_run import run  # noqa: E402
from openapi_site import ADMIN, Site  # noqa: E402
from openapi_spec_validator import OpenAPIV31SpecValidator  # noqa: E402

ROOT = HERE.parents[2]
TOOLS = pathlib.Path(sys.executable).parent
TSC = ROOT / ".build/programs/node-typescript/usr/share/nodejs/typescript/lib/tsc.js"
TSC_OPTIONS = ("--strict", "--noEmit", "--target", "es2020", "--lib", "es2020,dom", "--moduleResolution", "node")
SEED = "20161"
TOOL_SECONDS_MAX = 170
# What is not a fault of a response to a documented request. Two kinds cannot be in a document: what a type of an
# entity demands of a body (422), and that `Allow` names methods of a pattern which another path also matches.
EXCLUDED_CHECKS = "unsupported_method,allow_header_conformance,positive_data_acceptance,negative_data_rejection"
# Streams do not end; these end the caller's own credentials, or the data that the others need; S3 is another
# interface, checked with S3's own clients.
EXCLUDED_PATHS = "(/stream$|^/v1/live|^/s3|/v1/auth/sign-out|/v1/admin/tables/)"
EXCLUDED_OPERATIONS = ("removeDevice", "rotateDeviceToken", "replaceSigningKeys", "setLogLevel", "deleteBucket")
# The generator's options, by generator. In Swift it declares unions `Identifiable` that are not.
GENERATORS = {"swift6": ["--additional-properties", "identifiableModels=false"], "kotlin": [], "typescript-fetch": []}


def tool(name, *arguments, folder):
    done = subprocess.run(
        [str(TOOLS / name), *map(str, arguments)], cwd=folder, capture_output=True, text=True,
        timeout=TOOL_SECONDS_MAX,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0, output[-6000:]
    return output


def documents_are_valid(site):
    for is_full in (False, True):
        document = json.loads(site.document(is_full).read_text())
        faults = [
            f"{'/'.join(map(str, fault.absolute_path))}: {fault.message}"
            for fault in OpenAPIV31SpecValidator(document).iter_errors()
        ]
        assert not faults, faults[:5]


def responses_have_named_types(site):
    """Every operation's response is a component, and lists of types, which generators ignore, are nowhere."""
    text = site.document().read_text()
    document = json.loads(text)
    assert not re.search(r'"type": ?\[', text)
    for name in ("Book", "Books", "Items", "Me", "Priced", "Retitle", "SearchOperation"):
        method = next(
            method for path in document["paths"].values() for method in path.values()
            if isinstance(method, dict) and method.get("operationId") == name
        )
        schema = method["responses"]["200"]["content"]["application/json"]["schema"]
        component = schema["$ref"].rsplit("/", 1)[1]
        assert component.endswith("Response") and component in document["components"]["schemas"], schema


def requests(site, seconds_max, *arguments):
    """Runs schemathesis on the full document."""
    excluded = [part for name in EXCLUDED_OPERATIONS for part in ("--exclude-operation-id", name)]
    tool(
        "schemathesis", "--config-file", HERE / "schemathesis.toml", "run", site.document(is_full=True),
        "--url", site.url, "--no-color", "--seed", SEED, "--continue-on-failure", "--max-examples", "10",
        "--max-time", str(seconds_max),
        "--exclude-checks", EXCLUDED_CHECKS, "--exclude-path-regex", EXCLUDED_PATHS, *excluded, *arguments,
        folder=site.folder,
    )


def responses_are_as_documented(site):
    requests(
        site, 70, "--phases", "coverage,stateful", "--exclude-tag", "Administration",
        "--header", f"Authorization: Bearer {site.user}", "--header", f"Device-Token: {site.device}",
    )


def responses_to_operators_are_as_documented(site):
    for tag in ("Administration", "Files"):
        requests(
            site, 15, "--phases", "coverage,stateful", "--include-tag", tag,
            "--header", f"Authorization: Bearer {ADMIN}",
        )


def generators_accept_it(site):
    if shutil.which("java") is None:
        print("left out: no Java is installed")
        return
    for language, options in GENERATORS.items():
        output = tool(
            "openapi-generator-cli", "generate", "--input-spec", site.document(), "--generator-name", language,
            "--output", site.folder / language, *options, folder=site.folder,
        )
        faults = [line for line in output.split("\n") if " ERROR " in line or "Exception" in line]
        assert not faults, (language, faults[:5])
        sources = [path.read_text() for path in (site.folder / language).rglob("*") if path.is_file()
                   and path.suffix in (".swift", ".kt", ".ts")]
        assert any("BookResponse" in text for text in sources), language


def compiled(command, folder):
    done = subprocess.run(
        [str(part) for part in command], cwd=folder, capture_output=True, text=True, timeout=TOOL_SECONDS_MAX
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-6000:]


def the_swift_client_compiles(site):
    """After generators_accept_it, which makes it."""
    sources = sorted((site.folder / "swift6/Sources").rglob("*.swift"))
    if shutil.which("swiftc") is None or shutil.which("java") is None:
        print("left out: no Swift or no Java is installed")
        return
    assert len(sources) > 100, len(sources)
    options = ["-swift-version", "6", "-parse-as-library", "-module-name", "OpenAPIClient"]
    compiled(["swiftc", "-typecheck", *options, *sources], site.folder)


def typescript_compiles(site):
    """What Larder and, after generators_accept_it, openapi-generator make."""
    if shutil.which("node") is None or not TSC.exists():
        print("left out: no Node or no TypeScript is installed")
        return
    compiled([site.binary, "generate", "typescript", "--output", site.folder / "own"], site.folder)
    own = sorted((site.folder / "own").rglob("*.ts"))
    assert own
    compiled(["node", TSC, *TSC_OPTIONS, *own], site.folder)
    if shutil.which("java") is None:
        print("left out: no Java is installed")
        return
    # The generator's models test for members in a way that TypeScript understands from 4.9 on.
    options = [*TSC_OPTIONS, "--suppressImplicitAnyIndexErrors"]
    compiled(["node", TSC, *options, site.folder / "typescript-fetch/index.ts"], site.folder)


def structured_variables_are_text(site):
    """Generators have no common form for an object in a query string, so the document asks for JSON text."""
    document = json.loads(site.document().read_text())
    parameters = document["paths"]["/v1/operations/Priced"]["get"]["parameters"]
    within = next(one for one in parameters if one["name"] == "within")
    assert within["schema"]["type"] == "string" and "$ref" in within["schema"]["contentSchema"], within
    text = json.dumps({"pages": [1, 2000]})
    body = site.ask("/v1/operations/Priced?" + urllib.parse.urlencode({"within": text}))
    assert body["data"] is not None, body


def the_python_client_works(site):
    settings = site.folder / "client.yaml"
    settings.write_text("package_name_override: larder_client\npost_hooks: []\n")
    output = tool(
        "openapi-python-client", "generate", "--path", site.document(), "--output-path", site.folder / "python",
        "--config", settings, "--overwrite", folder=site.folder,
    )
    # A warning is a part of the document that the client lacks.
    assert "WARNING" not in output and "ERROR" not in output, output[:3000]
    tool(
        "python", "-B", HERE / "client.py", site.url, site.user, site.device, ADMIN, folder=site.folder / "python",
    )


CHECKS = [
    documents_are_valid, responses_have_named_types, structured_variables_are_text, generators_accept_it,
    the_swift_client_compiles, typescript_compiles, the_python_client_works,
    responses_are_as_documented, responses_to_operators_are_as_documented,
]

if __name__ == "__main__":
    run("openapi", __doc__, CHECKS, Site)
