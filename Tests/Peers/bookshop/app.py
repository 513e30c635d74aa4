"""A bookshop's GraphQL API on ariadne: an independent server, with a schema of another
shape than the demo's. `Scripts/test-peers` runs it; see `peer_modes.py` for its other modes.
"""

import pathlib

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
from peer_modes import PeerModes

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
        "tags": [["fiction", None], []] if n % 2 else None,
    }
    for n in range(1, 41)
}
AUDIO = {"x1": {"isbn": "x1", "title": "Solaris, read aloud", "minutes": 480, "authorId": "a2"}}

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
def resolve_books(_, info, first=10, format=None, isbns=None):
    books = [b for b in BOOKS.values() if format is None or b["format"] == format]
    return [b for b in books if isbns is None or b["isbn"] in isbns][:first]


@query.field("priced")
def resolve_priced(_, info, within):
    low, high = within["pages"]
    books = [b for b in BOOKS.values() if low <= b["pages"] <= high]
    return books if within.get("format") is None else [b for b in books if b["format"] == within["format"]]


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


@query.field("weather")
def resolve_weather(*_):
    if app.mode == "partial":
        raise GraphQLError("the barometer is stuck")
    return "fair"


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
app = PeerModes(GraphQL(schema, debug=False))
