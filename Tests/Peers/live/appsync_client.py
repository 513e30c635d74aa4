"""gql's AppSync client at a server that should speak AppSync's real-time protocol.

  appsync_client.py PORT HOST KEY FIELD

Subscribes to FIELD(id: "9") { id title } with an API key, and prints the first event; then tries a wrong
key. Ends with 1 unless the event comes and the wrong key is refused.
"""

import asyncio
import json
import sys

from gql import Client, gql
from gql.transport.appsync_auth import AppSyncApiKeyAuthentication
from gql.transport.appsync_websockets import AppSyncWebsocketsTransport

PORT, HOST, KEY, FIELD = sys.argv[1:]
SECONDS_MAX = 30


def client(key):
    return Client(
        transport=AppSyncWebsocketsTransport(
            url=f"ws://127.0.0.1:{PORT}/graphql",
            auth=AppSyncApiKeyAuthentication(host=HOST, api_key=key),
        )
    )


async def first_event():
    document = gql(f'subscription Changed {{ {FIELD}(id: "9") {{ id title }} }}')
    async with client(KEY) as session:
        async for event in session.subscribe(document):
            return event


async def refuses_a_wrong_key():
    try:
        async with client("wrong"):
            return False
    except Exception as error:  # noqa: BLE001 - gql has no type of its own for it
        return "authorized" in str(error)


async def main():
    print(json.dumps(await asyncio.wait_for(first_event(), SECONDS_MAX)))
    assert await asyncio.wait_for(refuses_a_wrong_key(), SECONDS_MAX), "a wrong key is accepted"
    print("checks passed")


asyncio.run(main())
