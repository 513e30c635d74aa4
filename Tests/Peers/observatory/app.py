"""An observatory's GraphQL API on strawberry: custom scalars whose digits must survive, JSON inside
JSON, lists of lists, input objects, a connection. Run by `Scripts/test-peers`.
"""

from __future__ import annotations

import datetime
import typing
from decimal import Decimal

import strawberry
from peer_modes import PeerModes
from strawberry.asgi import GraphQL
from strawberry.scalars import JSON

# Beyond the integers that a double represents exactly.
Catalogue = strawberry.scalar(
    typing.NewType("Catalogue", int), name="Catalogue", serialize=int, parse_value=int
)


@strawberry.interface
class Node:
    id: strawberry.ID


@strawberry.type
class Position:
    ra: float
    dec: float


@strawberry.type
class Star(Node):
    name: str
    catalogue: Catalogue
    parallax: Decimal
    seen_at: datetime.datetime
    spectrum: list[list[float]]
    notes: JSON
    position: Position
    companions: list[typing.Optional[Star]]


@strawberry.type
class Nebula(Node):
    name: str
    extent: typing.Optional[float]


@strawberry.type
class StarEdge:
    cursor: str
    node: Star


@strawberry.type
class PageInfo:
    has_next_page: bool
    end_cursor: typing.Optional[str]


@strawberry.type
class StarConnection:
    edges: list[StarEdge]
    page_info: PageInfo


@strawberry.input
class Window:
    names: typing.Optional[list[str]] = None
    brightest: typing.Optional[float] = None


STARS: dict[str, Star] = {}


def star(number: int) -> Star:
    return Star(
        id=strawberry.ID(f"HD {number}/α"),
        name=f"Star №{number}",
        catalogue=Catalogue(2**63 + number),
        parallax=Decimal(f"0.{number}0"),
        seen_at=datetime.datetime(2024, 2, 29, 8, 15, number % 60, tzinfo=datetime.timezone.utc),
        spectrum=[[1e-7 * number, 0.1], [], [number / 3]],
        notes={"z": 1, "a": [None, {"deep": "é\u2028\"\\"}], "id": f"not-a-key-{number}"},
        position=Position(ra=number * 1.5, dec=-0.0),
        companions=[],
    )


for n in range(1, 31):
    STARS[f"HD {n}/α"] = star(n)
for n in range(1, 30, 2):
    STARS[f"HD {n}/α"].companions = [STARS[f"HD {n + 1}/α"], None]
NEBULA = Nebula(id=strawberry.ID("M 42"), name="Orion", extent=None)


@strawberry.type
class Query:
    @strawberry.field
    def star(self, id: strawberry.ID) -> typing.Optional[Star]:
        return STARS.get(id)

    @strawberry.field
    def stars(self, first: int = 5, after: typing.Optional[str] = None) -> StarConnection:
        ids = list(STARS)
        start = ids.index(after) + 1 if after in STARS else 0
        page = ids[start : start + first]
        return StarConnection(
            edges=[StarEdge(cursor=i, node=STARS[i]) for i in page],
            page_info=PageInfo(
                has_next_page=start + first < len(ids), end_cursor=page[-1] if page else None
            ),
        )

    @strawberry.field
    def seen(self, window: Window) -> list[Star]:
        names = window.names
        return [s for s in STARS.values() if names is None or s.name in names][:3]

    @strawberry.field
    def node(self, id: strawberry.ID) -> typing.Optional[Node]:
        return NEBULA if id == NEBULA.id else STARS.get(id)

    @strawberry.field
    def nights(self, counts: list[list[int]]) -> list[list[typing.Optional[int]]]:
        return [[*row, None] for row in counts]


@strawberry.type
class Mutation:
    @strawberry.mutation
    def rename(self, id: strawberry.ID, name: str) -> Star:
        if id not in STARS:
            raise ValueError("no such star")
        STARS[id].name = name
        return STARS[id]

    @strawberry.mutation
    def note(self, id: strawberry.ID, notes: JSON) -> Star:
        STARS[id].notes = notes
        return STARS[id]


schema = strawberry.Schema(query=Query, mutation=Mutation, types=[Nebula, Star])
app = PeerModes(GraphQL(schema))
