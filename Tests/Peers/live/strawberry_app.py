"""The items on strawberry. PROTOCOL selects the WebSocket's subprotocol: transport or legacy."""

import os
from collections.abc import AsyncGenerator

import strawberry
from graphql import GraphQLError
from items import ITEMS, Extras, count
from strawberry.asgi import GraphQL
from strawberry.subscriptions import GRAPHQL_TRANSPORT_WS_PROTOCOL, GRAPHQL_WS_PROTOCOL


@strawberry.type
class Item:
    id: strawberry.ID
    name: str
    version: int


@strawberry.type
class Query:
    @strawberry.field
    def item(self, id: strawberry.ID) -> Item | None:
        found = ITEMS.items.get(id)
        return Item(**found) if found else None

    @strawberry.field
    def items(self) -> list[Item]:
        return [Item(**item) for item in ITEMS.items.values()]

    @strawberry.field
    def items_since(self, since: int) -> list[Item]:
        return [Item(**item) for item in ITEMS.items.values() if item["version"] > since]


@strawberry.type
class Mutation:
    @strawberry.mutation
    async def set_item(self, id: strawberry.ID, name: str) -> Item:
        return Item(**ITEMS.set(id, name))


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def item_changed(self, id: strawberry.ID | None = None) -> AsyncGenerator[Item, None]:
        async for item in ITEMS.changes(id):
            yield Item(**item)

    @strawberry.subscription
    async def count(self, to: int) -> AsyncGenerator[int, None]:
        async for number in count(to):
            yield number

    @strawberry.subscription
    async def refused(self) -> AsyncGenerator[int, None]:
        ITEMS.refusals += 1
        raise GraphQLError("not for you", extensions={"code": "FORBIDDEN"})
        yield


PROTOCOLS = {
    "transport": [GRAPHQL_TRANSPORT_WS_PROTOCOL],
    "legacy": [GRAPHQL_WS_PROTOCOL],
}
schema = strawberry.Schema(query=Query, mutation=Mutation, subscription=Subscription)
app = Extras(
    GraphQL(
        schema,
        subscription_protocols=PROTOCOLS[os.environ.get("PROTOCOL", "transport")],
        keep_alive=True,
        keep_alive_interval=1,
    )
)
