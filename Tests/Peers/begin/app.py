"""A shop's GraphQL API on strawberry: a union, an interface, custom scalars, input objects, a connection, a
deprecated field, fields with required arguments. `POST /switch?to=open|locked|closed|html` makes it demand a
token, refuse introspection, or be no GraphQL server.
"""

from __future__ import annotations

import datetime
import enum
import uuid
from decimal import Decimal
from typing import Annotated, Union
from urllib.parse import parse_qs

import strawberry
from graphql import GraphQLError, NoSchemaIntrospectionCustomRule
from strawberry.asgi import GraphQL
from strawberry.extensions import AddValidationRules
from strawberry.scalars import JSON

TOKEN = "Bearer a-token-of-the-shop"


@strawberry.enum
class Category(enum.Enum):
    TEA = "tea"
    CUP = "cup"


@strawberry.interface
class Node:
    id: strawberry.ID


@strawberry.type
class Maker(Node):
    name: str
    founded: datetime.date


@strawberry.type
class Review:
    stars: int
    text: str | None


@strawberry.type
class Product(Node):
    name: str
    price: Decimal
    category: Category
    attributes: JSON
    code: uuid.UUID
    maker: Maker

    @strawberry.field
    def reviews(self, first: int | None = None) -> list[Review]:
        return [Review(stars=5, text="good"), Review(stars=2, text=None)][:first]

    @strawberry.field
    def price_in(self, currency: str) -> Decimal:
        return self.price

    @strawberry.field(deprecation_reason="Use name.")
    def title(self) -> str:
        return self.name


@strawberry.type
class PageInfo:
    has_next_page: bool
    end_cursor: str | None


@strawberry.type
class ProductEdge:
    cursor: str
    node: Product


@strawberry.type
class ProductConnection:
    edges: list[ProductEdge]
    page_info: PageInfo
    total_count: int


@strawberry.type
class Notice:
    # Another type than the member of the same name elsewhere in the union.
    name: int
    message: str


Found = Annotated[Union[Product, Maker, Notice], strawberry.union("Found")]


@strawberry.input
class Bound:
    gte: Decimal | None = None
    lte: Decimal | None = None


@strawberry.input
class ProductFilter:
    category: Category | None = None
    price: Bound | None = None


@strawberry.input
class Condition:
    name: str | None = None
    both: list[Condition] | None = None


@strawberry.input
class ProductInput:
    name: str
    price: Decimal
    attributes: JSON | None = None


@strawberry.type
class Fault:
    path: str
    message: str


@strawberry.type
class ProductPayload:
    product: Product | None
    faults: list[Fault]


MAKERS = {
    "m1": Maker(id=strawberry.ID("m1"), name="Kyūsu & Co", founded=datetime.date(1904, 5, 6)),
}
PRODUCTS = {
    f"p {number}": Product(
        id=strawberry.ID(f"p {number}"), name=f"Tea {number}", price=Decimal("4.50"),
        category=Category.TEA, attributes={"organic": True, "leaves": [1, 2.50, None]},
        code=uuid.UUID(int=number), maker=MAKERS["m1"],
    )
    for number in range(1, 31)
}


@strawberry.type
class Query:
    @strawberry.field(description="One product.")
    def product(self, id: strawberry.ID) -> Product | None:
        return PRODUCTS.get(id)

    @strawberry.field
    def products(
        self, filter: ProductFilter | None = None, where: Condition | None = None, limit: int = 10
    ) -> list[Product]:
        return list(PRODUCTS.values())[:limit]

    @strawberry.field
    def catalogue(self, first: int, after: str | None = None) -> ProductConnection:
        nodes = list(PRODUCTS.values())[:first]
        return ProductConnection(
            edges=[ProductEdge(cursor=node.id, node=node) for node in nodes],
            page_info=PageInfo(has_next_page=True, end_cursor=nodes[-1].id), total_count=len(PRODUCTS),
        )

    @strawberry.field
    def maker_by_name(self, name: str) -> Maker | None:
        return next((maker for maker in MAKERS.values() if maker.name == name), None)

    @strawberry.field
    def find(self, text: str) -> list[Found]:
        return [PRODUCTS["p 1"], MAKERS["m1"], Notice(name=1, message=text)]

    @strawberry.field
    def node(self, id: strawberry.ID) -> Node | None:
        return PRODUCTS.get(id) or MAKERS.get(id)

    # The name of a parameter of the service's own routes.
    @strawberry.field
    def sold(self, from_: Annotated[int, strawberry.argument(name="from")]) -> int:
        return from_

    @strawberry.field(deprecation_reason="Use products.")
    def everything(self) -> list[Product]:
        return list(PRODUCTS.values())


@strawberry.type
class Mutation:
    @strawberry.mutation
    def add_product(self, input: ProductInput) -> ProductPayload:
        return ProductPayload(product=None, faults=[Fault(path="name", message=input.name)])

    @strawberry.mutation
    def set_price(self, id: strawberry.ID, price: Decimal) -> Product | None:
        return PRODUCTS.get(id)

    # The name of a query too.
    @strawberry.mutation
    def product(self, id: strawberry.ID) -> bool:
        return id in PRODUCTS


def served(*extensions):
    return GraphQL(
        strawberry.Schema(
            Query, Mutation, types=[Maker, Product], extensions=list(extensions)
        )
    )


class Modes:
    """An ASGI application around the API, with its modes."""

    def __init__(self):
        self.mode = "open"
        self.open = served()
        self.closed = served(AddValidationRules([NoSchemaIntrospectionCustomRule]))

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return await self.open(scope, receive, send)
        if scope["path"] == "/switch":
            self.mode = parse_qs(scope["query_string"].decode())["to"][0]
            return await respond(send, 200, b"{}")
        if self.mode == "html":
            return await respond(send, 200, b"<html>a shop</html>", b"text/html")
        headers = dict(scope["headers"])
        if self.mode == "locked" and headers.get(b"authorization") != TOKEN.encode():
            return await respond(send, 401, b'{"error": "no token"}')
        await (self.closed if self.mode == "closed" else self.open)(scope, receive, send)


async def respond(send, status, body, kind=b"application/json"):
    await send(
        {"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
    await send({"type": "http.response.body", "body": body})


app = Modes()
