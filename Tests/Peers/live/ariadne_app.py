"""The items on ariadne. PROTOCOL selects how subscriptions are served: transport, legacy or sse."""

import os
import pathlib

from ariadne import MutationType, QueryType, SubscriptionType, make_executable_schema
from ariadne.asgi import GraphQL
from ariadne.asgi.handlers import GraphQLTransportWSHandler, GraphQLWSHandler
from ariadne.contrib.sse import GraphQLHTTPSSEHandler
from graphql import GraphQLError
from items import ITEMS, Extras, count

query, mutation, subscription = QueryType(), MutationType(), SubscriptionType()


@query.field("item")
def resolve_item(_, info, id):
    return ITEMS.items.get(id)


@query.field("items")
def resolve_items(_, info):
    return list(ITEMS.items.values())


@query.field("itemsSince")
def resolve_items_since(_, info, since):
    return [item for item in ITEMS.items.values() if item["version"] > since]


@mutation.field("setItem")
async def resolve_set_item(_, info, id, name):
    return ITEMS.set(id, name)


@subscription.source("itemChanged")
def item_changed(_, info, id=None):
    return ITEMS.changes(id)


@subscription.source("count")
def count_up(_, info, to):
    return count(to)


@subscription.source("refused")
def refused(_, info):
    ITEMS.refusals += 1
    raise GraphQLError("not for you", extensions={"code": "FORBIDDEN"})


@subscription.field("itemChanged")
@subscription.field("count")
@subscription.field("refused")
def resolve_event(event, info, **_):
    return event


schema = make_executable_schema(
    (pathlib.Path(__file__).parent / "schema.graphql").read_text(), query, mutation, subscription
)
HANDLERS = {
    "transport": {"websocket_handler": GraphQLTransportWSHandler()},
    "legacy": {"websocket_handler": GraphQLWSHandler()},
    "sse": {"http_handler": GraphQLHTTPSSEHandler()},
}
app = Extras(GraphQL(schema, **HANDLERS[os.environ.get("PROTOCOL", "transport")]))
