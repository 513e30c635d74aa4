"""GraphQL clients of other make: gql over HTTP and WebSocket, and websockets alone.

clients.py PORT: runs the operations One, Rename and Mine at /v1/graphql. Prints `done` at the end.
"""

import asyncio
import json
import sys

import websockets
from gql import Client, GraphQLRequest, gql
from gql.transport.exceptions import TransportQueryError
from gql.transport.requests import RequestsHTTPTransport
from gql.transport.websockets import WebsocketsTransport

ONE = "query One($id: ID!) { film(id: $id) { id title } }"
RENAME = (
    "mutation Rename($id: ID!, $title: String!) { updateFilm(id: $id, patch: {title: $title}) "
    "{ id title } }"
)
MINE = "query Mine { me { id name } }"
SECONDS_MAX = 20


def request(text, **variables):
    """A request; gql prints the document in its own layout."""
    return GraphQLRequest(gql(text), variable_values=variables)


def expect(holds, what):
    if not holds:
        sys.exit(f"{what} is not as expected")


def over_http(port):
    transport = RequestsHTTPTransport(f"http://127.0.0.1:{port}/v1/graphql", use_json=True)
    with Client(transport=transport) as session:
        film = session.execute(request(ONE, id="f1"))["film"]
        expect(film["id"] == "f1", film)
        renamed = session.execute(request(RENAME, id="f1", title="Renamed"))
        expect(renamed["updateFilm"]["title"] == "Renamed", renamed)
        film = session.execute(request(ONE, id="f1"))["film"]
        expect(film["title"] == "Renamed", film)
        for text in ("{ films { id } }", "query One { version }"):
            try:
                session.execute(request(text))
                sys.exit(f"{text} was executed")
            except TransportQueryError as error:
                code = error.errors[0]["extensions"]["code"]
                expect(code == "document_unknown", error.errors)


async def over_websocket(port):
    for user in ("ada", "bob"):
        transport = WebsocketsTransport(
            f"ws://127.0.0.1:{port}/v1/graphql",
            subprotocols=[WebsocketsTransport.GRAPHQLWS_SUBPROTOCOL],
            init_payload={"Authorization": f"Bearer user-{user}"},
        )
        async with Client(transport=transport) as session:
            films = await asyncio.gather(
                *(session.execute(request(ONE, id=f"f{number}")) for number in range(1, 21))
            )
            ids = [film["film"]["id"] for film in films]
            expect(ids == [f"f{number}" for number in range(1, 21)], ids)
            mine = await session.execute(request(MINE))
            expect(user in json.dumps(mine), mine)
            await session.execute(request(RENAME, id="f2", title=f"Of {user}"))
            try:
                await session.execute(request("query Other { version }"))
                sys.exit("another document was executed")
            except TransportQueryError as error:
                expect("document_unknown" in str(error.errors), error.errors)


async def live(port):
    """A live query; gql has none, so it is written out."""
    address = f"ws://127.0.0.1:{port}/v1/graphql"
    async with websockets.connect(address, subprotocols=["graphql-transport-ws"]) as socket:

        async def send(**message):
            await socket.send(json.dumps(message))

        async def receive():
            return json.loads(await socket.recv())

        await send(type="connection_init")
        expect((await receive())["type"] == "connection_ack", "the acknowledgement")
        payload = {"operationName": "One", "variables": {"id": "f3"}, "extensions": {"live": True}}
        await send(type="subscribe", id="live", payload=payload)
        expect((await receive())["payload"]["data"]["film"]["id"] == "f3", "the first result")
        for number in range(10):
            title = f"Title {number}"
            payload = {"operationName": "Rename", "variables": {"id": "f3", "title": title}}
            await send(type="subscribe", id=f"m{number}", payload=payload)
            seen = set()
            while seen != {("live", "next"), (f"m{number}", "next"), (f"m{number}", "complete")}:
                message = await receive()
                seen.add((message["id"], message["type"]))
                if message["type"] == "next":
                    expect(title in json.dumps(message), message)
        await send(type="complete", id="live")
        await send(type="ping", payload={"a": 1})
        expect(await receive() == {"type": "pong", "payload": {"a": 1}}, "the pong")


def main():
    port = int(sys.argv[1])
    over_http(port)
    for work in (over_websocket, live):
        asyncio.run(asyncio.wait_for(work(port), SECONDS_MAX))
    print("done")


if __name__ == "__main__":
    main()
