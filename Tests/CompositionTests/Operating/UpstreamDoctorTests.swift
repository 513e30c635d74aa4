import Model
import Testing
import Upstream

@testable import Composition

/// What the doctor says of upstream's present schema and of its subscriptions.
struct UpstreamDoctorTests {
  private static let schema = """
    type Query { film(slug: ID!): Film }
    type Subscription { filmChanged(studio: ID): Film  studioChanged(id: ID!): Film }
    type Film @key(fields: "slug") { slug: ID!  title: String!  tags: [String!]  year: Int }
    """

  private static func workspace(_ upstream: String = "") throws -> Workspace {
    try folder().open(upstream: upstream)
  }

  private static func folder() throws -> OperationsFolder {
    try OperationsFolder(
      schema: schema,
      operations: [
        "a.graphql": """
        query Film($slug: ID!) @cache(maxAge: 60) { film(slug: $slug) { slug title tags } }
        subscription FilmChanged($studio: ID) { filmChanged(studio: $studio) { slug title } }
        subscription StudioChanged($id: ID!) { studioChanged(id: $id) { slug title } }
        """
      ]
    )
  }

  @Test(
    "A field whose type has changed is a difference; what no operation selects is none",
    arguments: [
      ("title: String!", "title: String!", nil),
      ("title: String!", "title: Int!", "Film.title is Int!, but String! in the schema file"),
      ("title: String!", "title: String", "Film.title is String, but String! in the schema file"),
      ("tags: [String!]", "tags: [String!]!", nil),
      ("tags: [String!]", "tags: [String]", "Film.tags is [String], but [String!] in the"),
      ("tags: [String!]", "tags: String", "Film.tags is String, but [String!] in the"),
      ("year: Int", "year: String", nil), ("year: Int", "", nil),
      ("title: String!", "name: String!", "Cannot query field"),
      ("film(slug: ID!)", "film(slug: ID!, day: Int!)", "day"),
    ] as [(String, String, String?)])
  func comparesSchemas(old: String, new: String, expected: String?) throws {
    let folder = try Self.folder()
    let workspace = try folder.open()
    let drift = SchemaDrift(
      sources: UpstreamFiles.read(workspace.settings).sources, registry: workspace.registry)
    // Introspection shows no directive of the schema file, such as the key.
    let present = Self.schema.replacing(#" @key(fields: "slug")"#, with: "")
      .replacing(old, with: new)
    let differences = drift.differences(of: .sole, to: present)
    withExtendedLifetime(folder) {}
    guard let expected else {
      #expect(differences == [])
      return
    }
    #expect(differences.contains { $0.contains(expected) }, "\(differences)")
  }

  @Test("Standing subscriptions are tried; without one, a subscription that needs no variable")
  func choosesTrials() throws {
    let plain = try Self.workspace()
    let one = LiveTrial.all(of: plain.settings.allUpstreams[0], in: plain.registry)
    #expect(one.map(\.operation.name) == ["FilmChanged"])
    #expect(one.map(\.isStanding) == [false])
    let standing = try Self.workspace(
      ", standing: [{operation: StudioChanged, variables: {id: s1}}]")
    let own = LiveTrial.all(of: standing.settings.allUpstreams[0], in: standing.registry)
    #expect(own.map(\.operation.name) == ["StudioChanged"])
    #expect(own.map(\.isStanding) == [true])
  }

  @Test("A refusal is a fault of a standing subscription only, a lost connection always")
  func judgesEvents() throws {
    let workspace = try Self.workspace()
    let trial = try #require(
      LiveTrial.all(of: workspace.settings.allUpstreams[0], in: workspace.registry).first)
    let standing = LiveTrial(
      operation: trial.operation, variables: trial.variables, isStanding: true)
    let cases: [(SubscriptionEvent?, DoctorReport.Finding.Verdict, DoctorReport.Finding.Verdict)] =
      [
        (.established(afterGap: false), .good, .good),
        (.failed(.refused(.unauthenticated)), .note, .bad),
        (.interrupted(.status(403, retryAfter: nil)), .note, .bad),
        (.failed(.status(400, retryAfter: nil)), .note, .bad),
        (.interrupted(.notSent(cause: "refused")), .bad, .bad),
        (.complete, .note, .bad), (nil, .bad, .bad),
      ]
    for (event, other, own) in cases {
      #expect(trial.finding(event, part: "live").verdict == other)
      #expect(standing.finding(event, part: "live").verdict == own)
    }
  }

  @Test("The doctor reports a standing subscription that cannot be opened")
  func reportsUnreachable() async throws {
    let workspace = try Self.workspace(
      ", forward: [], standing: [{operation: FilmChanged}]")
    let findings = await DoctorReport.live(
      workspace.settings.allUpstreams[0], workspace.registry)
    #expect(findings.map(\.verdict) == [.good, .bad], "\(findings)")
    #expect(findings.last?.text.contains("FilmChanged") == true, "\(findings)")
    let untried = await DoctorReport.live(workspace.settings.allUpstreams[0], nil)
    #expect(untried.map(\.verdict) == [.good])
  }
}
