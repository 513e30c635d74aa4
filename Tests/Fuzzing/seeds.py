"""Makes the seeds of each fuzz target from the fixtures of the other tests.

seeds.py FOLDER: writes FOLDER/<target>/<number> and FOLDER/witness (whole request streams).
"""

import base64
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "Tests" / "HTTPWireTests" / "Fixtures"
GRAPHQL = ROOT / "Tests" / "GraphQLTests" / "Fixtures"

# The longest seed: the fuzzer makes longer inputs only if they find new code.
BYTES_MAX = 4096

# Switches and piece lengths before a stream; see `Dials` in StreamTargets.swift.
DIALS = [bytes([switches, 0, 6, 40]) for switches in (0, 1, 2, 6, 9, 19)]


def raw_cases(name):
    for line in (FIXTURES / name).read_text().splitlines():
        yield json.loads(line)


def streams(name):
    return [base64.b64decode(case["bytes_base64"]) for case in raw_cases(name)]


def behind_dials(streams):
    for number, stream in enumerate(streams):
        yield DIALS[number % len(DIALS)] + stream


def chunked_bodies(streams):
    for stream in streams:
        head, gap, body = stream.partition(b"\r\n\r\n")
        if gap and b"chunked" in head.lower():
            yield body


def field_values(streams):
    values = set()
    for stream in streams:
        for line in stream.partition(b"\r\n\r\n")[0].split(b"\r\n"):
            values.add(line.partition(b":")[2].strip())
            if b"?" in line:
                values.add(line.partition(b"?")[2].partition(b" ")[0])
    values |= set(LISTED_VALUES) | set(hostile_values())
    return sorted(values)


LISTED_VALUES = [
    b"Sun, 06 Nov 1994 08:49:37 GMT", b"Sunday, 06-Nov-94 08:49:37 GMT",
    b"Sun Nov  6 08:49:37 1994", b"Thu, 29 Feb 2024 23:59:60 GMT",
    b'"a", W/"b-gzip", "c"', b'W/"x"', b"*", b"bytes=0-99", b"bytes=-5, 7-, 1-2",
    b"bytes=9223372036854775807-9223372036854775807", b"no-cache, max-age=60, max-stale",
    b'min-fresh="10", only-if-cached, no-store', b"gzip;q=0.5, identity;q=0, *;q=1.000",
    b"a=1&b=%20+%C3%A9&a=&=x&&c", b"keep-alive, Upgrade",
]

JSON_TEXTS = [
    b'{"a":[1,-0.5e+10,"\\ud83d\\ude00\\n",true,false,null],"b":{"":{}}}',
    b"[[[[[[[[]]]]]]]]", b" [ 1 , 2 ] ", b'"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"',
    b"9007199254740993", b"-9223372036854775808", b"1e400", b'"\\ud800x"', b'{"a":1,"a":2}',
]

VARIABLES = [
    b'{"s":"x","i":3,"f":1.5,"b":[true,false],"d":[["a",1]],"m":"WILD","p":{"name":"n"}}',
    b'{"s":"","b":true,"d":7,"l":[{"name":"n"}],"p":null,"m":null}',
]


FILTERS = [
    b"title LIKE 'a\\_%' ESCAPE '\\' AND NOT (year BETWEEN 1990 AND 2000 OR rating >= -1.5e3)",
    b"seen OR id IN ('a', 'it''s', ?, :a) AND director IS NOT NULL", b'"year" <> :year AND NOT seen',
    b"year NOT IN (1,2) AND title NOT LIKE 'x%' OR 1990 <= year", b"rating == 0.5 AND id = title",
    b"director.mentor.name BEGINSWITH[cd] 'v' AND NONE cast.name = 'x' OR cast.count > 3",
    b"added > now() - 7d + 12h AND ANY director.films.title CONTAINS[c] 'a' AND year IS NOT MISSING",
    b"lower(title) = 'x' OR length(director.name) < 3 AND cast IS NULL", b"lower(director.name)",
    b'-director."name",title[cd]',
]


SEARCHES = [
    b'alien ship*', b'"dark side" moon', '"\u0301b'.encode(), b'NEAR(a b) OR title:c*',
    '"zzz"\u0301 OR the OR "\u0301x"'.encode(), b'a\0b "c\0d"', b'a""b" "c',
]


INCLUSIONS = [
    b'director,cast(limit: 3, order: name)', b'cast(limit:3).films(order:-year,title),cast.best',
    b' a . b ( limit : 1 ) , a', 'cast(order:\u0301a:b,)'.encode(), b'a.b.c,1,a((,),b)',
]


FORWARDED = [
    b'\0for=192.0.2.60;proto=http;by=203.0.113.43, for=10.0.0.7',
    b'\0for="[2001:db8:cafe::17]:4711";host="api.example:8080";proto=https,for=unknown',
    b'\0for="\\"quoted\\\\";ext=x,,for=_hidden;For=10.1.2.3',
    b"\x01203.0.113.7, 10.0.0.2\nhttps\napi.example\nfor=203.0.113.7;proto=https",
    b"\x01[2001:db8::1]:443, 2001:db8::2, unknown, 10.9.8.7:1\nhttp,https\na,b",
]

PATHS = [
    b"/films/{id}/cast/{path...}", b"/a%2e%2e/%2F/%C3%A9", b"/../x", b"/films?x=1&ticket=abc&t=2",
    b"/s?%74icket%3Dabc&tick%65t=", b"/{a}/{a}",
]

SETTINGS = [
    b"\xffupstream: {url: https://api.example/graphql, forward: [authorization], timeout: 10s}\n",
    b"\xfflisten: [127.0.0.1:8080, 'unix:/run/larder.sock']\ndrain: {delay: 1s, deadline: 8s}\n",
    b"\xffcache: &c {maxAge: 5m}\ntypes:\n  Film: {key: [id], index: [year], search: [title]}\n",
    b"\xffdata: a\ndata: b\n\"data\": c\nlisten: *c\n",
    b"\xfflimits: {head: 32KiB, target: 64KiB}\nproxies: {trust: [10.0.0.0/8, unix, '::1/128']}\n",
    b"\xfftls: {certificates: {a: {certificate: a.pem}}}\ncors: {origins: ['*', https://x.y]}\n",
    b"\xffpush:\n  rules:\n    - {on: Message insert, to: readers, text: '{sender}: {{hi}}'}\n",
    b"\x00{Film: {key: [id]}}", b"\x01https://u:p@[::1]:99999/x#y", b"\x02:8080", b"\x031d12h",
    b"\x0410GiB", b"\x0510.0.0.0/33", b"\x06https://a.b:443", b"\x07~/x/../y",
]

# Lines: messages of a client, and after an exclamation mark events of the server.
GRAPHQL_SESSIONS = [
    b'{"type":"connection_init","payload":{"Authorization":"Bearer a"}}\n!a\n'
    b'{"id":"1","type":"subscribe","payload":{"query":"{a}","variables":{}}}\n!n1\n!c1\n',
    b'{"type":"connection_init"}\n!a\n{"id":"a","type":"subscribe","payload":{}}\n'
    b'{"id":"a","type":"complete"}\n{"id":"a","type":"subscribe","payload":{}}\n!n1\n!f2\n!r\n',
    b'{"type":"ping","payload":{"a":1}}\n{"type":"pong"}\n!l\n',
    b'{"type":"connection_init"}\n{"type":"connection_init"}\n',
    b'{"id":"1","type":"subscribe","payload":{}}\n',
    b"!b\n",
]

# After the authentication code: a cursor, and a page token of each kind of value.
TOKENS = [
    bytes([2]) + bytes(36) + b"\x01" + bytes(8) + b"\0\4key1",
    bytes([2]) + b"\x7f" * 36 + b"\x02" + b"\xff" * 8 + b"\0\0",
    bytes([1]) + bytes(8) + b"\0\1" + b"\xff" * 8 + b"\2" + bytes(8) + b"\3" + bytes(7) + b"\2f1",
    base64.urlsafe_b64encode(bytes([1]) + bytes(8) + b"\3" + bytes(8) + bytes(12)).rstrip(b"="),
]


def hostile_values():
    """The values of HostileValues.swift, as bytes."""
    text = (ROOT / "Tests" / "TestSupport" / "HostileValues.swift").read_text()
    text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
    escapes = {"0": "\0", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
    for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', text):
        plain = re.sub(
            r"\\(?:u\{([0-9A-Fa-f]+)\}|(.))",
            lambda found: chr(int(found[1], 16)) if found[1] else escapes[found[2]], literal)
        yield plain.encode("utf-8", "surrogatepass")


def hostile_numbers():
    for value in hostile_values():
        if re.fullmatch(rb"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?", value):
            yield value


# The first byte selects one of FuzzedOperations.swift, in the order of their names.
FILM, FILMS, RATE, SEARCH, SEAT, TAKE = (bytes([number]) for number in range(6))

FILM_DATA = (
    b'{"id":"9","title":"t","year":1,"rating":1.50,"budget":0.10,"poster":{"url":"u","width":5,'
    b'"artist":{"name":"n","larder_Person_id":"p"}},"tags":[["a",null]],"notes":{"x":[1]},'
    b'"director":{"larder_Person_id":"p","name":"n","films":[{"id":"9","year":1}]},"cast":[],'
    b'"related":[{"larder_typename":"Film","id":"8","year":2},null,{"larder_typename":"Stats",'
    b'"films":3},{"larder_typename":"Ticket","number":1.0,"larder_Ticket_number":1,'
    b'"seat":{"row":1e0,"at":9007199254740993,"taken":true}}]}'
)


def upstream_variables():
    yield FILM + b'{"id":9}'
    yield FILM + b"id=9"
    yield FILMS + b'{"first":1.0,"filter":{"year":{"gt":1990},"genres":["NOIR"],"and":[{}]}}'
    yield FILMS + b"first=2&filter.year.gt=1990&filter.genres=NOIR&filter.genres=WESTERN"
    yield TAKE + b'{"i":1,"f":1.50,"d":"0.10","l":1e3,"s":"x","b":true,"g":"NOIR","n":[["a",1]],"c":{"id":1}}'
    yield TAKE + b"i=1&f=1.5&d=0.10&l=1e3&b=true&g=NOIR&n=[[1]]&j={}&c.id=1"
    for number in hostile_numbers():
        yield TAKE + b'{"i":N,"f":N,"d":N,"l":N,"n":[[N]],"j":N,"c":{"id":N}}'.replace(b"N", number)
        yield TAKE + b"i=N&f=N&d=N&l=N&n=N&j=N&c.id=N".replace(b"N", number.replace(b"+", b"%2B"))


def upstream_responses():
    yield FILM + b'{"data":{"film":' + FILM_DATA + b"}}"
    yield FILM + b'{"data":{"film":' + FILM_DATA + b'},"errors":[{"message":"m","path":["film","cast",0]}]}'
    yield FILM + b'{"data":null,"errors":[{"message":"m","path":["film"]}]}'
    yield SEARCH + b'{"data":{"search":[{"larder_typename":"Person","id":1,"films":[null]}]}}'
    yield SEAT + b'{"data":{"seat":{"row":1,"at":"2","taken":false,"film":{"id":1}}}}'
    for number in hostile_numbers():
        yield SEAT + b'{"data":{"seat":{"row":N,"at":N,"film":{"id":N}}}}'.replace(b"N", number)


STORED_TEXTS = [
    FILM + b"\xff".join([
        b'{"film({\\"id\\":null})":{"$ref":["Film","1"]}}',
        b'{"id":"1","title({\\"lang\\":\\"en\\"})":"t","year":1,"director":{"$ref":["Person","1"]},'
        b'"cast":[{"$ref":["Person","1"]},{"$ref":["Person","2"]}],"tags":[["a"]],'
        b'"poster({\\"size\\":1})":{"__typename":"Poster","url":"u","width":5},'
        b'"related":[{"$ref":["Film","1"]},{"__typename":"Stats","films":3}]}',
        b'{"id":"1","name":"n\\u00e9","films":[{"$ref":["Film","1"]}]}', b"",
        b'{"id":"2","name":"m","$pending":["m_1"]}',
        b'[{"message":"m","path":["film","cast",0]}]',
    ]),
    SEARCH + b'{"search({\\"text\\":null})":[{"$ref":["Person","1"]}]}\xff\xff{"id":"1","films":[[}',
]

EVENT_STREAMS = [
    b": welcome\n\nevent: next\ndata: {\"data\":{\"a\":1}}\n\nevent: complete\ndata:\n\n",
    b"\xef\xbb\xbfid: 7\r\ndata: a\r\ndata:b\rdata\n\r\nretry: 10\nevent: x\n\nid: a\0b\ndata: c\n\n",
]

# The first byte selects the dialect, and whether connections are lost and time passes.
SUBSCRIPTION_MESSAGES = [
    bytes([0xC0]) + b'{"type":"pong"}\n{"type":"next","id":"1","payload":{"data":{"a":1}}}\n{"type":"ping"}\n'
    b'{"type":"error","id":"2","payload":[{"message":"m","extensions":{"code":"invalid-jwt"}}]}\n'
    b'{"type":"complete","id":"3"}\n{"type":"next","id":"4","payload":{"errors":[]}}\n{"type":"connection_ack"}',
    bytes([0x41]) + b'{"type":"ka"}\n{"type":"data","id":"1","payload":{"data":null}}\n'
    b'{"type":"connection_error","payload":"no"}\n{"type":"error","id":"2","payload":{"errors":[{"message":"m"}]}}',
    bytes([0x82]) + b'{"type":"start_ack","id":"1"}\n{"type":"data","id":"1","payload":{"data":{}}}\n'
    b'{"type":"error","payload":{"errors":{"errorType":"LimitExceededError"}}}\n'
    b'{"type":"error","id":"2","payload":{"errors":{"errorType":"MaxSubscriptionsReachedError"}}}\n'
    b'{"type":"connection_ack","payload":{"connectionTimeoutMs":300000}}',
    bytes([0xC3]) + b'{"data":{"a":1}}\n{"errors":[{"message":"m"}]}\n7',
]

PLAIN_BODY = (
    b'{"updates":[{"__typename":"Film","id":"f1","title":"t","year":1,"secret":"s","genre":"NOIR",'
    b'"tags":[["a",null]],"poster":{"url":"u","width":5},"notes":{"x":[1.50]},'
    b'"director":{"id":"p1","name":"n"},"cast":["p1",{"id":"p2","name":"m"}],'
    b'"related":[{"type":"Film","id":"f2"},{"__typename":"Person","id":"p3"},null]},'
    b'{"__typename":"Seat","row":1,"at":9007199254740993,"film":"f1"}],'
    b'"deletes":["Film:9",{"__typename":"Seat","row":2,"at":"3"},"Own:o1"],'
    b'"invalidates":["Films","tag:home","Film","Found","Person:p1"],'
    b'"timestamp":"2026-01-02T03:04:05.678Z"}'
)


def hook_event(operation, old, new, name=b"film"):
    return (
        b'{"id":"e1","created_at":"2026-01-02T03:04:05.678901Z","table":{"schema":"public","name":"'
        + name + b'"},"event":{"op":"' + operation + b'","data":{"old":' + old + b',"new":' + new
        + b'}},"delivery_info":{"current_retry":0}}'
    )


ROW = b'{"film_id":1,"title":"t","year":2,"director_id":"p1","secret":"s","other":{"a":1}}'

# The first byte selects: header fields and a body, a body that is signed, the body of a Hasura event.
WEBHOOK_MESSAGES = [
    b"\0msg_1\n1700000000\nv1,AAAA v1a,BBBB v1,K6K2KQ==\n" + PLAIN_BODY,
    b"\0msg_1\n1700000300\nv1,\n{}", b"\0a.b\n9223372036854775807\n\n", b"\0\n-1\nv1,AA",
    b"\1" + PLAIN_BODY, b'\1{"updates":[],"deletes":null}', b'\1{"updates":[{"__typename":"Own","id":"1"}]}',
    b"\2" + hook_event(b"INSERT", b"null", ROW), b"\2" + hook_event(b"DELETE", ROW, b"null"),
    b"\2" + hook_event(b"UPDATE", ROW, ROW.replace(b":1,", b":2,")),
    b"\2" + hook_event(b"MANUAL", b"null", ROW, b"own"), b'\2{"id":"","table":{},"event":{}}',
]

S3_SIGNATURES = [
    b"AWS4-HMAC-SHA256 Credential=AKID/20130524/us-east-1/s3/aws4_request, "
    b"SignedHeaders=host;range;x-amz-date, Signature=" + b"0f" * 32,
    b"AKID/20130524/us-east-1/s3/aws4_request", b"20130524T000000Z", b"0f" * 32,
    b"STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", b"/a%20b//%C3%A9/./x",
    b"X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKID%2F20130524%2Fus-east-1%2Fs3%2F"
    b"aws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=604800&X-Amz-SignedHeaders=host"
    b"&X-Amz-Signature=" + b"0f" * 32,
]

HEAD_VALUES = [
    b"120", b"Sun, 06 Nov 1994 08:49:37 GMT", b"timeout=5, max=100", b'"key-\\"1"', b"bytes 0-9/200",
    b"attachment; filename*=UTF-8''a.txt", b"1994-11-06T08:49:37.123Z", b"=?UTF-8?B?w6k=?=",
    b"eyJhbGciOiJSUzI1NiJ9.eyJleHAiOjE3OTAwMDAwMDB9.AAAA", b"a2tleQ", b"n4bQgYhMfWWaL+qgxVrQFQ==",
    *(b"e30." + base64.urlsafe_b64encode(b'{"exp":%s}' % number).rstrip(b"=") + b".x"
      for number in hostile_numbers() if len(number) < 60),
]

def frame(opcode, payload=b"", final=True, reserved=0, mask=b"\x37\xfa\x21\x3d"):
    """A WebSocket frame; a server's without a mask."""
    head = bytes([final << 7 | reserved << 4 | opcode])
    size = len(payload)
    masked = 0x80 if mask else 0
    head += bytes([masked | size]) if size < 126 else bytes([masked | 126]) + size.to_bytes(2, "big")
    if mask:
        payload = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
    return head + mask + payload


DEFLATED = [
    b"\xf2\x48\xcd\xc9\xc9\x07\x00", b"\xf2\x00\x11\x00\x00",
    b"\xf3\x48\xcd\xc9\xc9\x07\x00\x00", b"\x00\x05\x00\xfa\xffHello\x00", b"\x00",
]


def websocket_streams():
    for mask in (b"\x37\xfa\x21\x3d", b""):
        yield b"".join([
            frame(1, "Gr\u00fc".encode(), False, mask=mask), frame(9, b"ping", mask=mask),
            frame(0, "\u00dfe\U0001f3ac".encode(), mask=mask), frame(10, mask=mask),
            frame(2, bytes(range(200)), mask=mask), frame(8, b"\x03\xe8bye", mask=mask),
        ])
        for coded in DEFLATED:
            yield frame(1, coded, reserved=4, mask=mask)
        yield frame(1, DEFLATED[0][:3], False, 4, mask) + frame(0, DEFLATED[0][3:], mask=mask)


WEBSOCKET_EXTENSIONS = [
    b"permessage-deflate; client_max_window_bits", b'a; b="c", permessage-deflate;server_max_window_bits=9',
    b"permessage-deflate; server_no_context_takeover; client_no_context_takeover; "
    b"client_max_window_bits=10",
]

SIGNED_CHUNK = b";chunk-signature=" + b"0f" * 32 + b"\r\n"

AWS_CHUNKED = [
    b"3" + SIGNED_CHUNK + b"abc\r\n0" + SIGNED_CHUNK + b"\r\n",
    b"3" + SIGNED_CHUNK + b"abc\r\n0" + SIGNED_CHUNK + b"x-amz-checksum-crc32:AAAAAA==\n\r\n"
    b"x-amz-trailer-signature:" + b"0f" * 32 + b"\r\n\r\n",
    b"a\r\n0123456789\r\n0\r\nx-amz-checksum-sha1: AA==\r\n\r\n",
]

S3_XML = [
    b'<?xml version="1.0" encoding="UTF-8"?>'
    b'<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
    b"<Quiet>true</Quiet><Object><Key>a&amp;&#13;&#x1F600;</Key></Object></Delete>",
    b"<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>&quot;a&quot;</ETag></Part>"
    b"<!-- - --><Part/></CompleteMultipartUpload>",
    b"<s:a x='1' y = \"&lt;\"><![CDATA[<b>\r\n]]>\r\n</s:a >",
]

FORMS = [
    b'--AaB03x\r\nContent-Disposition: form-data; name="key"\r\n\r\na/${filename}\r\n'
    b'--AaB03x\r\nContent-Disposition: form-data; name="file"; filename="a%22.txt"\r\n'
    b"Content-Type: text/plain\r\n\r\none\r\n--AaB03\r\n--AaB03x--\r\n",
    b"--AaB03x\r\ncontent-disposition: form-data;name=a\r\nX: y\r\n\r\n\r\n--AaB03x--",
]


def settings_files():
    for path in sorted((ROOT / "Examples").rglob("larder.yaml")):
        yield b"\xff" + path.read_bytes()


def graphql_texts():
    yield from (text.encode() for text in (GRAPHQL / "beasts-documents.txt").read_text().split("---"))
    for path in sorted((ROOT / "Examples").rglob("*.graphql")) + sorted(GRAPHQL.glob("*.graphql")):
        text = path.read_text()
        yield text.encode()
        yield from (part.encode() for part in re.split(r"\n(?=\w)", text))
    swift = (ROOT / "Tests/GraphQLTests/Syntax/ParserRobustnessTests.swift").read_text()
    literals = re.findall(r'"""\n(.*?)\n\s*"""', swift, re.S)
    yield from (text.replace('\\"', '"').encode() for text in literals)


def seeds():
    requests = streams("http-requests.jsonl")
    responses = streams("http-responses.jsonl")
    documents = sorted(set(graphql_texts()))
    cases = [json.dumps(case).encode() for case in raw_cases("http-responses.jsonl")]
    return {
        "request-stream": behind_dials(requests),
        "response-stream": behind_dials(responses),
        "chunked-body": behind_dials(chunked_bodies(requests + responses)),
        "field-values": field_values(requests + responses),
        "json-text": JSON_TEXTS + VARIABLES + cases,
        "graphql-document": documents,
        "graphql-schema": documents,
        "filter-text": FILTERS + [b"year = " + number for number in hostile_numbers()],
        "search-text": SEARCHES,
        "inclusion-text": INCLUSIONS,
        "forwarded": FORWARDED,
        "request-path": PATHS,
        "settings-text": [*SETTINGS, *settings_files()],
        "token": TOKENS,
        "graphql-session": GRAPHQL_SESSIONS,
        "aws-chunked": behind_dials(AWS_CHUNKED),
        "s3-xml": S3_XML,
        "form": behind_dials(FORMS),
        "s3-signature": S3_SIGNATURES,
        "head-value": [*HEAD_VALUES, *hostile_values()],
        "upstream-variables": upstream_variables(),
        "upstream-response": upstream_responses(),
        "stored-text": STORED_TEXTS,
        "websocket-frames": behind_dials(websocket_streams()),
        "websocket-deflate": behind_dials(DEFLATED),
        "websocket-extensions": WEBSOCKET_EXTENSIONS,
        "event-stream": behind_dials(EVENT_STREAMS),
        "subscription-messages": SUBSCRIPTION_MESSAGES,
        "webhook-message": WEBHOOK_MESSAGES,
        "witness": requests,
    }


def main():
    folder = pathlib.Path(sys.argv[1])
    for target, texts in seeds().items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for number, text in enumerate(text for text in texts if len(text) <= BYTES_MAX):
            (folder / target / f"{number:04}").write_bytes(text)


if __name__ == "__main__":
    main()
