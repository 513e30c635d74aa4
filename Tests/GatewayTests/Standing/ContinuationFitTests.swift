import Model
import Testing
import Upstream

@testable import Gateway

/// What a query can continue by.
struct ContinuationFitTests {
  private static let schema = """
    type Query { films(int: Int, float: Float, text: String, id: ID, flag: Boolean, genre: Genre,
      moment: Moment, bound: Bound, texts: [String!], ints: [Int!]): [Film!]! }
    type Film { id: ID!  version: Int!  rating: Float  updatedAt: String  changed: Moment  seen: Boolean
      genre: Genre }
    enum Genre { NOIR WESTERN }
    scalar Moment
    input Bound { above: Int }
    """

  private static func registry(variable: String, type: String) throws -> OperationRegistry {
    let loaded = OperationRegistry.load(
      files: [
        SourceFile(
          path: "films.graphql",
          text: """
            query Films($after: \(type)) {
              films(\(variable): $after) { id version rating updatedAt changed seen genre }
            }
            """)
      ],
      schemaSources: [SourceFile(path: "schema.graphql", text: schema)],
      settings: RegistrySettings())
    return try #require(loaded.registry, "\(loaded.findings)")
  }

  private static func faults(_ variable: String, _ type: String, field: String) throws -> [String] {
    let registry = try registry(variable: variable, type: type)
    do throws(StandingRuleFaults) {
      _ = try PollPlan(
        PollRule(
          operation: "Films", every: .seconds(1), since: .init(variable: "after", field: field)),
        in: registry)
      return []
    } catch {
      return error.messages
    }
  }

  @Test(
    "A variable takes the fields whose stored values are values of its type, and no others",
    arguments: [
      ("int", "Int", ["version"]),
      ("int", "Int!", ["version"]),
      ("float", "Float", ["version", "rating"]),
      ("text", "String", ["id", "updatedAt", "changed", "genre"]),
      ("texts", "[String!]", ["id", "updatedAt", "changed", "genre"]),
      ("ints", "[Int!]", ["version"]),
      ("id", "ID", ["id", "version", "updatedAt", "changed", "genre"]),
      ("genre", "Genre", ["id", "updatedAt", "changed", "genre"]),
      ("moment", "Moment", ["id", "version", "rating", "updatedAt", "changed", "genre"]),
      ("flag", "Boolean", []),
      ("bound", "Bound", []),
    ] as [(String, String, Set<String>)])
  func comparesKinds(variable: String, type: String, fitting: Set<String>) throws {
    for field in ["id", "version", "rating", "updatedAt", "changed", "genre"] {
      let faults = try Self.faults(variable, type, field: field)
      #expect(faults.isEmpty == fitting.contains(field), "\(type) for \(field): \(faults)")
    }
  }

  @Test("A fault names the variable, its type, the field and what is stored of it")
  func namesBoth() throws {
    #expect(
      try Self.faults("int", "Int!", field: "updatedAt") == [
        "since.variable: Films takes $after as Int!, and Film.updatedAt is stored as text."
      ])
    #expect(
      try Self.faults("int", "Int", field: "rating") == [
        "since.variable: Films takes $after as Int, and Film.rating is stored as a floating-point "
          + "number."
      ])
    let flags = try Self.faults("flag", "Boolean", field: "seen")
    #expect(
      flags == [
        "since.field: Film.seen is true or false, which has no order to continue by; name a field "
          + "that grows with each change."
      ])
  }
}
