import Testing
import Upstream

@testable import Composition

struct StandingCheckTests {
  private static func folder() throws -> OperationsFolder {
    try OperationsFolder(
      schema: """
        type Query {
          films: [Film!]!  filmsSince(since: String): [Film!]!  filmsAfter(version: Int): [Film!]!
        }
        type Subscription { filmChanged(studio: ID): Film }
        type Film { id: ID!  title: String  updatedAt: String }
        """,
      operations: [
        "a.graphql": """
        query Films { films { id title } }
        query FilmsSince($since: String) { filmsSince(since: $since) { id title updatedAt } }
        query FilmsAfter($version: Int) { filmsAfter(version: $version) { id updatedAt } }
        query ForAdmins @access(role: ADMIN) { films { id title } }
        subscription FilmChanged($studio: ID) { filmChanged(studio: $studio) { id title updatedAt } }
        """
      ])
  }

  @Test("Standing subscriptions and polls that fit the operations are named by larder check")
  func acceptsFitting() throws {
    let workspace = try Self.folder().open(
      upstream: """
        , standing: [{operation: FilmChanged, catchUp: {operation: FilmsSince, variable: since, \
        field: updatedAt}}, {operation: FilmChanged, variables: {studio: s1}}], \
        poll: [{operation: Films, every: 30s}]
        """)
    let text = CheckReport(workspace).text
    #expect(text.contains("  FilmChanged: subscribed; gaps are caught up by FilmsSince"))
    #expect(text.contains("  FilmChanged: subscribed; gaps are marked as due"))
    #expect(text.contains("  Films: every 30 s"))
    #expect(!text.contains("Not served"))
  }

  @Test("All faults are reported at once, with their places")
  func reportsAllFaults() throws {
    let failure = #expect(throws: StartFailure.self) {
      try Self.folder().open(
        upstream: """
          , standing: [{operation: FilmChange}, {operation: Films}, \
          {operation: FilmChanged, variables: {studios: s1}}, {operation: FilmChanged}, \
          {operation: FilmChanged}], \
          poll: [{operation: FilmChanged, every: 30s}, \
          {operation: FilmsSince, every: 30s, since: {variable: since, field: changed}}, \
          {operation: FilmsAfter, every: 30s, since: {variable: version, field: updatedAt}}]
          """)
    }
    let text = try #require(failure).description
    for part in [
      "`upstream.standing`: operation: there is no operation named FilmChange. Did you mean",
      "`upstream.standing`: operation: Films is a query",
      "`upstream.standing`: variables: studios is not a variable",
      "`upstream.standing` has FilmChanged with the same variables twice",
      "`upstream.poll`: operation: FilmChanged is a subscription",
      "`upstream.poll`: since.field: no entity in FilmsSince",
      "`upstream.poll`: since.variable: FilmsAfter takes $version as Int, and Film.updatedAt is stored "
        + "as text.",
      "larder.yaml:1:",
    ] { #expect(text.contains(part), "\(part)\n\(text)") }
  }

  @Test("Faults of one rule do not hide each other, and each has the place of its member")
  func placesFaultsOfMembers() throws {
    let failure = #expect(throws: StartFailure.self) {
      try Self.folder().open(
        upstream: """
          , standing: [
            {operation: FilmChanged, variables: {studios: s1},
             catchUp: {operation: FilmsSince, variable: sins, field: updated}}],
           poll: [
            {operation: FilmsSince, every: 30s,
             since: {variable: sins, field: updated}}]
          """)
    }
    let text = try #require(failure).description
    for part in [
      "larder.yaml:2:49: `upstream.standing`: variables: studios is not a variable",
      "larder.yaml:3:47: `upstream.standing`: catchUp.variable: FilmsSince has no variable sins",
      "larder.yaml:3:60: `upstream.standing`: catchUp.field: no entity in FilmsSince",
      "larder.yaml:6:", "`upstream.poll`: since.variable", "`upstream.poll`: since.field",
      "3 | ", "^",
    ] { #expect(text.contains(part), "\(part)\n\(text)") }
    #expect(!text.contains("?."), "\(text)")
    #expect(!text.contains("***"), "\(text)")
  }

  @Test("Subscriptions that settings switch off are a warning")
  func warnsOfSwitchedOff() throws {
    let workspace = try Self.folder().open(upstream: ", subscriptions: off")
    let text = workspace.warnings.map(\.report).joined(separator: "\n")
    #expect(text.contains("refuses every request for FilmChanged"), "\(text)")
    #expect(text.contains("larder.yaml:1:"), "\(text)")
  }

  @Test("Operations that the service runs itself can be read by those its stored data is for")
  func reportsReaders() throws {
    let folder = try Self.folder()
    func readers(_ poll: String) throws -> String {
      let upstream =
        ", dialect: hasura, secret: x, forward: [authorization], forwardOwnTokens: true\(poll)"
      let text = CheckReport(try folder.open(upstream: upstream)).text
      return String(text.split(separator: "\n").first { $0.hasPrefix("  Film: ") } ?? "")
    }
    #expect(try !readers("").contains("users verified here, the operator"))
    #expect(
      try readers(", poll: [{operation: Films, every: 1m}]")
        .contains("users verified here, the operator"))
    #expect(
      try !readers(", poll: [{operation: ForAdmins, every: 1m}]")
        .contains("users verified here, the operator"))
  }
}
