import LosslessJSON
import Testing

@testable import Composition

/// The lines of `larder routes`: who may call, and which paths there are.
struct RoutesReportTests {
  private static let schema = """
    type Query { films: [Film!]! film(id: ID!): Film pages: Pages me: User }
    type Film { id: ID! cast: [User!]! }
    type Pages { edges: [Edge!]! }
    type Edge { node: Film }
    type User { name: String }
    """
  private static let operations = """
    query Films @route(path: "/films") { films { id } }
    query Film($id: ID!) @route(path: "/films/{id}") { film(id: $id) { id } }
    query Cast($id: ID!, $all: Boolean!) @route(path: "/cast/{id}") {
      film(id: $id) { id cast @include(if: $all) { name } }
    }
    query Pages($all: Boolean!) @route(path: "/pages") { pages @include(if: $all) { edges { node { id } } } }
    query Me @route(path: "/me") { me { name } }
    """

  /// The access of each line, by method and path.
  private static func access(_ settings: String = "") throws -> [String: String] {
    let folder = try OperationsFolder(schema: schema, operations: ["a.graphql": operations])
    let report = try RoutesReport(try folder.open(settings))
    let document = try JSONValue(parsing: Array(report.json.utf8))
    let rows = document["routes"]?.array ?? []
    #expect(rows.allSatisfy { $0["access"]?.string?.isEmpty == false })
    #expect(report.text.split(separator: "\n").count == rows.count + 1)
    return Dictionary(
      rows.map {
        ("\($0["method"]?.string ?? "") \($0["path"]?.string ?? "")", $0["access"]?.string ?? "")
      }, uniquingKeysWith: { first, _ in first })
  }

  @Test(
    "The service's own routes show the callers that they admit",
    arguments: [
      ("GET /healthz", "anyone"), ("GET /metrics", "anyone"), ("GET /v1/entities", "anyone"),
      ("GET /v1/changes/stream", "anyone"), ("POST /v1/devices", "anyone"),
      ("POST /v1/auth/sign-up", "anyone"), ("POST /v1/auth/sign-in", "anyone"),
      ("GET /v1/devices/me", "device"), ("POST /v1/mutations", "device"),
      ("GET /v1/auth/me", "user"), ("GET /v1/push/registration", "device and user"),
      ("POST /v1/push/notifications", "user or admin"),
      ("PATCH /v1/entities/{type}/{id}", "user or device or admin"),
      ("POST /v1/admin/purge", "admin"), ("GET /v1/admin/overview", "admin or viewer"),
      ("POST /v1/admin/session", "anyone"), ("PUT /v1/files/{bucket}", "admin"),
      ("GET /v1/files/{bucket}/{key*}", "by bucket"), ("GET /v1/files", "anyone"),
      ("GET /s3/{bucket}/{key*}", "S3 key"), ("POST /v1/hooks/{name}", "webhook secret"),
      ("GET /v1/operations/{name}", "by operation"), ("POST /v1/graphql", "by operation"),
    ])
  func showsAccess(route: String, access: String) throws {
    #expect(try Self.access()[route] == access)
  }

  @Test("A setting that decides who is admitted is followed")
  func followsSettings() throws {
    let access = try Self.access(
      """
      devices: {register: user}
      accounts: {signUp: admin}
      metrics: {access: admin}
      admin: {token: \(String(repeating: "a", count: 40))}
      """)
    #expect(access["POST /v1/devices"] == "user")
    #expect(access["POST /v1/auth/sign-up"] == "admin")
    #expect(access["GET /metrics"] == "admin")
    let own = try Self.access("metrics: {token: \(String(repeating: "a", count: 40))}")
    #expect(own["GET /metrics"] == "metrics token or admin")
  }

  @Test("Only queries that can show a list of entities have diffs")
  func listsDiffs() throws {
    let paths = try Self.access().keys.filter { $0.contains("/api/") && $0.hasSuffix("/diff") }
    #expect(
      Set(paths) == [
        "GET /api/films/diff", "POST /api/films/diff", "GET /api/pages/diff",
        "POST /api/pages/diff",
      ])
  }
}
