import Testing

@testable import Upstream

/// A small film library and ways to load operations against it.
enum Samples {
  static let schema = """
    type Query {
      film(id: ID!): Film
      films(first: Int, after: String, year: Int): FilmConnection!
      topFilms(limit: Int = 10): [Film!]!
      allGenres: [Genre!]!
      search(text: String!, filter: FilmFilter): [SearchResult]
      node(id: ID!): Node
      genre(code: String!, lang: String!): Genre
      version: String
      stats: Stats
    }
    type Mutation {
      rateFilm(id: ID!, stars: Int!): Film
      deleteFilm(id: ID!): Boolean
      addFilm(input: FilmInput!): Film!
    }
    type Subscription { filmChanged(id: ID!): Film }
    interface Node { id: ID! }
    type Film implements Node {
      id: ID!
      title(lang: String = "en"): String!
      year: Int
      rating: Float
      budget: Decimal
      seen: Boolean
      poster(size: Size = SMALL, crop: Crop): Poster
      director: Person
      cast(first: Int, after: String): CastConnection!
      genres: [Genre!]
      tags: [String!]!
      related: [SearchResult]
      notes: JSON
    }
    type Person implements Node { id: ID!  name: String!  films: [Film!]!  born: Date }
    type Genre @key(fields: "code lang") { code: String!  lang: String!  label: String }
    type Poster { url: String!  width: Int  height: Int  artist: Person }
    type FilmConnection { edges: [FilmEdge]  pageInfo: PageInfo!  totalCount: Int }
    type FilmEdge { cursor: String!  node: Film }
    type CastConnection { edges: [CastEdge!]!  pageInfo: PageInfo! }
    type CastEdge { role: String  node: Person! }
    type PageInfo { hasNextPage: Boolean!  endCursor: String }
    type Stats { films: Int!  ratio: Float }
    union SearchResult = Film | Person | Stats
    enum Size { SMALL LARGE }
    input Crop { x: Int = 0  y: Int = 0  w: Int! }
    input FilmFilter { year: IntRange  title: String  genres: [String!]  and: [FilmFilter!] }
    input IntRange { gt: Int  lt: Int }
    input FilmInput { id: ID  title: String!  year: Int = 2000  meta: JSON }
    scalar Decimal
    scalar JSON
    scalar Date
    """

  static func load(
    _ operations: String, settings: RegistrySettings = RegistrySettings(),
    schema: String = Samples.schema
  ) -> LoadedRegistry {
    OperationRegistry.load(
      files: [SourceFile(path: "operations.graphql", text: operations)],
      schemaSources: [SourceFile(path: "schema.graphql", text: schema)], settings: settings)
  }

  /// The registry of valid operations.
  static func registry(
    _ operations: String, settings: RegistrySettings = RegistrySettings(),
    schema: String = Samples.schema, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> OperationRegistry {
    let loaded = load(operations, settings: settings, schema: schema)
    for finding in loaded.faults {
      Issue.record(Comment(rawValue: finding.report), sourceLocation: sourceLocation)
    }
    return try #require(loaded.registry, sourceLocation: sourceLocation)
  }

  /// The first operation of a text.
  static func operation(
    _ text: String, settings: RegistrySettings = RegistrySettings(),
    schema: String = Samples.schema, sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> RegisteredOperation {
    let registry = try registry(
      text, settings: settings, schema: schema, sourceLocation: sourceLocation)
    return try #require(registry.operations.first, sourceLocation: sourceLocation)
  }
}
