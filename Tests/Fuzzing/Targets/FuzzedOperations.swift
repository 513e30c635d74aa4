import Model

@testable import Upstream

/// Operations of a small film library with every kind of key, variable and selection.
enum FuzzedOperations {
  private static let schema = """
    type Query {
      film(id: ID!): Film
      films(first: Int, after: String, filter: FilmFilter): [Film!]!
      seat(row: Int!, at: Long!): Seat
      search(text: String!): [Found]
      take(i: Int, f: Float, d: Decimal, l: Long, s: String, b: Boolean, g: Genre, n: [[ID!]],
        j: JSON, c: Choice): String
    }
    type Mutation { rate(id: ID!, stars: Int!): Film  delete(id: ID!): Boolean }
    interface Node { id: ID! }
    type Film implements Node {
      id: ID!  title(lang: String = "en"): String!  year: Int  rating: Float  budget: Decimal
      director: Person  cast: [Person!]  poster(size: Int = 1): Poster  tags: [[String]]
      related: [Found]  notes: JSON
    }
    type Person implements Node { id: ID!  name: String!  films: [Film!] }
    type Seat @key(fields: "row at") { row: Int!  at: Long!  film: Film  taken: Boolean }
    type Ticket @key(fields: "number") { number: Int!  seat: Seat }
    type Poster { url: String!  width: Int  artist: Person }
    type Stats { films: Int! }
    union Found = Film | Person | Ticket | Stats
    enum Genre { NOIR WESTERN }
    input FilmFilter { year: IntRange  title: String = "x"  genres: [Genre!]  and: [FilmFilter!] }
    input IntRange { gt: Int  lt: Int = 9 }
    input Choice @oneOf { id: ID  range: IntRange }
    scalar Decimal  scalar Long  scalar JSON
    """

  private static let operations = """
    query Film($id: ID!) {
      film(id: $id) {
        id title year rating budget poster { url width artist { name } } tags notes
        director { name films { id year } } cast { id name }
        related { ... on Film { id year } ... on Person { name } ... on Stats { films }
          ... on Ticket { number seat { row at taken } } }
      }
    }
    query Seat($row: Int!, $at: Long!) { seat(row: $row, at: $at) { row at taken film { id } } }
    query Search($text: String!) {
      search(text: $text) { ... on Person { id films { id title } } ... on Ticket { number } }
    }
    query Take($i: Int = 3, $f: Float, $d: Decimal, $l: Long, $s: String, $b: Boolean, $g: Genre,
      $n: [[ID!]], $j: JSON, $c: Choice) {
      take(i: $i, f: $f, d: $d, l: $l, s: $s, b: $b, g: $g, n: $n, j: $j, c: $c)
    }
    query Films($first: Int = 20, $filter: FilmFilter) {
      films(first: $first, filter: $filter) { id title }
    }
    mutation Rate($id: ID!, $stars: Int!) @effects(updates: ["Film:$id"]) {
      rate(id: $id, stars: $stars) { id rating }
    }
    """

  static let all: [RegisteredOperation] = {
    let loaded = OperationRegistry.load(
      files: [SourceFile(path: "operations.graphql", text: operations)],
      schemaSources: [SourceFile(path: "schema.graphql", text: schema)],
      settings: RegistrySettings(scalarNumbers: ["Decimal": .real, "Long": .integer]))
    guard let registry = loaded.registry else {
      fatalError(loaded.faults.map(\.report).joined(separator: "\n"))
    }
    return registry.operations.sorted { $0.name < $1.name }
  }()
}
