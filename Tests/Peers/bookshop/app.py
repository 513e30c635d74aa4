"""A bookshop's GraphQL API on ariadne: a real server with a schema other than the demo's.

Run: uvicorn app:app --host 127.0.0.1 --port 4010   (from this folder)

Beside `/` (GraphQL) it answers `/calls` with the number of calls of each operation, and
`POST /switch?to=up|500|html|slow` changes how it behaves.
"""

import asyncio
import json
import pathlib
from urllib.parse import parse_qs

from ariadne import (
    InterfaceType,
    MutationType,
    ObjectType,
    QueryType,
    UnionType,
    load_schema_from_path,
    make_executable_schema,
)
from ariadne.asgi import GraphQL
from graphql import GraphQLError

HERE = pathlib.Path(__file__).parent

AUTHORS = {
    "a1": {"id": "a1", "name": "Olga Tokarczuk", "born": 1962},
    "a2": {"id": "a2", "name": "Stanisław Lem", "born": 1921},
}
BOOKS = {
    f"978-{n}": {
        "isbn": f"978-{n}",
        "title": f"Volume {n}",
        "pages": 100 + n,
        "price": {"amount": "19.90", "currency": "EUR"},
        "authorId": "a1" if n % 2 else "a2",
        "format": "PAPERBACK" if n % 3 else "HARDCOVER",
    }
    for n in range(1, 41)
}
AUDIO = {"x1": {"isbn": "x1", "title": "Solaris, read aloud", "minutes": 480, "authorId": "a2"}}
STATE = {"mode": "up", "calls": {}}

query = QueryType()
mutation = MutationType()
book = ObjectType("Book")
audio = ObjectType("AudioBook")
author = ObjectType("Author")
item = InterfaceType("Item")
found = UnionType("Found")


def kind_of(value, *_):
    if "minutes" in value:
        return "AudioBook"
    return "Author" if "born" in value else "Book"


item.set_type_resolver(kind_of)
found.set_type_resolver(kind_of)


@query.field("book")
def resolve_book(_, info, isbn):
    return BOOKS.get(isbn)


@query.field("books")
def resolve_books(_, info, first=10, format=None):
    books = [b for b in BOOKS.values() if format is None or b["format"] == format]
    return books[:first]


@query.field("items")
def resolve_items(*_):
    return list(BOOKS.values())[:2] + list(AUDIO.values())


@query.field("find")
def resolve_find(_, info, text):
    pool = list(BOOKS.values()) + list(AUDIO.values()) + list(AUTHORS.values())
    return [v for v in pool if text.lower() in (v.get("title") or v.get("name")).lower()]


@query.field("me")
def resolve_me(_, info):
    token = info.context["request"].headers.get("authorization")
    if not token:
        raise GraphQLError("sign in first", extensions={"code": "UNAUTHENTICATED"})
    return {"id": token.removeprefix("Bearer "), "name": token.removeprefix("Bearer ")}


@query.field("broken")
def resolve_broken(*_):
    raise GraphQLError("this field never works")


@book.field("author")
@audio.field("author")
def resolve_author(value, *_):
    return AUTHORS[value["authorId"]]


@author.field("books")
def resolve_author_books(value, *_):
    return [b for b in BOOKS.values() if b["authorId"] == value["id"]]


@mutation.field("retitle")
def resolve_retitle(_, info, isbn, title):
    if isbn not in BOOKS:
        raise GraphQLError("no such book", extensions={"code": "NOT_FOUND"})
    BOOKS[isbn]["title"] = title
    return BOOKS[isbn]


@mutation.field("withdraw")
def resolve_withdraw(_, info, isbn):
    return BOOKS.pop(isbn, None) is not None


schema = make_executable_schema(
    load_schema_from_path(str(HERE / "schema.graphql")),
    query, mutation, book, audio, author, item, found,
)
graphql = GraphQL(schema, debug=False)


async def plain(send, status, text, media="application/json"):
    headers = [(b"content-type", media.encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


async def body_of(receive):
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body


async def app(scope, receive, send):
    if scope["type"] != "http":
        return await graphql(scope, receive, send)
    if scope["path"] == "/calls":
        return await plain(send, 200, json.dumps(STATE["calls"]))
    if scope["path"] == "/switch":
        STATE["mode"] = parse_qs(scope["query_string"].decode())["to"][0]
        return await plain(send, 200, "{}")
    if STATE["mode"] == "500":
        return await plain(send, 500, "boom", "text/plain")
    if STATE["mode"] == "html":
        return await plain(send, 200, "<html>maintenance</html>", "text/html")
    if STATE["mode"] == "slow":
        await asyncio.sleep(30)
    body = await body_of(receive)
    try:
        name = json.loads(body).get("operationName") or "?"
        STATE["calls"][name] = STATE["calls"].get(name, 0) + 1
    except ValueError:
        pass
    sent = False

    async def replay():
        nonlocal sent
        if sent:
            return {"type": "http.disconnect"}
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    await graphql(scope, replay, send)
