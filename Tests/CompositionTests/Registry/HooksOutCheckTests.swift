import Gateway
import Testing

@testable import Composition

/// Hooks out, against the local types and the operations.
struct HooksOutCheckTests {
  private static let secret = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  private static func open(
    _ triggers: String..., local: String? = nil
  ) throws -> Workspace {
    let hooks = triggers.map {
      "{on: \($0), when: after, url: \"http://localhost:9000/x\", secret: \(secret)}"
    }
    let folder = try OperationsFolder(
      schema: """
        type Query { films: [Film!]! } type Film { id: ID! title: String }
        type Mutation { rate(id: ID!): Film }
        """,
      operations: [
        "a.graphql": "query Films @cache(scope: PUBLIC) { films { id title } }",
        "b.graphql": "mutation RateFilm($id: ID!) { rate(id: $id) { id title } }",
      ]
    )
    if let local { try folder.write(local, to: "local.graphql") }
    return try folder.open("hooks: {out: [\(hooks.joined(separator: ", "))]}")
  }

  @Test("Types and operations that do not exist are faults, all at once")
  func refusesUnknownNames() throws {
    let failure = try #require(
      #expect(throws: StartFailure.self) {
        try Self.open(
          "Film insert", "Trip insert", "mutation Films applied", "mutation RateFilms applied")
      })
    #expect(failure.kind == .faultySettings)
    for part in [
      "Film is a type of upstream's", "there is no local type Trip", "Films is not a mutation",
      "there is no mutation RateFilms. Did you mean \"RateFilm\"?",
    ] {
      #expect(failure.description.contains(part), "\(failure)")
    }
  }

  private static let local = """
    extend type Film { favourite: Boolean @local note: String @local(scope: USER) }
    interface Listed { name: String }
    type Trip implements Listed @local { id: ID! name: String }
    """

  @Test("A hook of an upstream type is called for updates of its local fields, and of no interface")
  func localFieldsAreUpdated() throws {
    let workspace = try Self.open("Film update", "Trip insert", local: Self.local)
    let check = HooksOutCheck(
      settings: workspace.settings, registry: workspace.registry, local: workspace.local)
    #expect(check.hooks.map(\.name) == ["Film update after", "Trip insert after"])
    #expect(check.lines.first?.text == "Film update: reported to http://localhost:9000")
    let failure = try #require(
      #expect(throws: StartFailure.self) {
        try Self.open("Film insert", "Film delete", "Listed insert", local: Self.local)
      })
    #expect(failure.kind == .faultySettings)
    for part in [
      "`Film insert after`: Film is a type of upstream's with local fields, which are only updated",
      "use `Film update`", "`Film delete after`", "Listed is an interface: name Trip",
    ] {
      #expect(failure.description.contains(part), "\(failure)")
    }
  }

  @Test("Hooks of mutations are accepted, and described without their paths")
  func acceptsMutations() throws {
    let workspace = try Self.open("mutation RateFilm applied", "mutation RateFilm parked")
    let check = HooksOutCheck(
      settings: workspace.settings, registry: workspace.registry, local: workspace.local)
    #expect(
      check.hooks.map(\.name) == [
        "mutation RateFilm applied after", "mutation RateFilm parked after",
      ])
    #expect(check.hooks.allSatisfy { $0.keys.count == 1 })
    #expect(
      check.lines.map(\.text).first
        == "mutation RateFilm applied: reported to http://localhost:9000")
  }
}
