import Cluster
import Foundation
import Gateway
import HTTPClient
import HTTPTypes
import Model
import Testing

@testable import Composition

/// What `larder check` and `larder doctor` say of a cluster.
struct ClusterDiagnosisTests {
  private static let operations = ["a.graphql": "query A { film { id } }"]
  private static let schema = "type Query { film: Film } type Film { id: ID! }"

  private static func settings(_ lines: String = "", postgres: String = "postgres://db/x") -> String
  {
    "files: off\ncluster:\n  postgres: \(postgres)\n  advertise: http://10.0.0.2:8080\n"
      + "  secret: \(String(repeating: "s", count: 32))\n\(lines)"
  }

  @Test("The check shows the digest that nodes have in common")
  func showsTheDigest() throws {
    let folder = try OperationsFolder(schema: Self.schema, operations: Self.operations)
    let workspace = try folder.open(Self.settings())
    let digest = try #require(workspace.digest)
    let text = CheckReport(workspace).text
    #expect(text.contains("Cluster larder: digest \(digest.prefix(12)) of operations"), "\(text)")
    #expect(!text.contains("does not lead"))
    let follower = CheckReport(try folder.open(Self.settings("  candidate: false\n"))).text
    #expect(follower.contains("; this node does not lead"), "\(follower)")
    #expect(!CheckReport(try folder.open()).text.contains("Cluster"))
  }

  @Test("A schema that each node introspects for itself is a warning")
  func warnsOfIntrospectedSchemas() throws {
    let folder = try OperationsFolder(schema: nil, operations: Self.operations)
    try FileManager.default.createDirectory(
      atPath: "\(folder.path)/data", withIntermediateDirectories: true)
    try folder.write(Self.schema, to: "data/schema.graphql")
    let workspace = try folder.open(Self.settings())
    let report = CheckReport(workspace)
    #expect(report.text.contains("each node introspects upstream for itself"), "\(report.text)")
    #expect(report.json().contains("each node introspects"))
    // A single machine may do that.
    #expect(!CheckReport(try folder.open()).text.contains("introspects"))
  }

  @Test("A PostgreSQL that cannot be reached is a fault, without its password")
  func reportsPostgres() async throws {
    let yaml = Self.settings(postgres: "postgres://u:Tr0ub4dor@127.0.0.1:1/x?connect_timeout=2")
    let settings = try SettingsFixture(yaml: yaml).load().settings
    let findings = await DoctorReport.cluster(settings, digest: nil)
    #expect(findings.contains { $0.verdict == .bad }, "\(findings)")
    #expect(!"\(findings)".contains("Tr0ub4dor"))
  }

  @Test("A single machine has no findings about a cluster")
  func isQuietAlone() async throws {
    let settings = try SettingsFixture(yaml: "").load().settings
    #expect(await DoctorReport.cluster(settings, digest: nil).isEmpty)
  }

  @Test("A node whose address is another node's, or none, is a fault with its cure")
  func reportsNodes() async throws {
    let settings = try SettingsFixture(yaml: Self.settings()).load().settings
    let signature = NodeSignature(secret: Array(repeating: UInt8(7), count: 32))
    func check(_ id: String, _ cluster: String) -> NodeCheck {
      NodeCheck(
        ping: NodePing(
          signature, asker: "command", clock: SystemClock.wall, random: RandomBytes { 1 }),
        cluster: "c"
      ) { request throws(HTTPClientError) in
        let answer = NodeAnswer(
          node: id, cluster: { cluster }, signature: signature, clock: SystemClock.wall
        ).answer(to: request.fields[HTTPField.Name("Request-Id")!] ?? "")
        return HTTPClientResponse(
          status: .ok, fields: [HTTPField.Name("Larder-Node")!: answer.field], body: answer.content)
      }
    }
    let nodes = ["a"].map {
      NodeRecord(
        id: NodeID($0), url: "http://\($0)", position: 0, version: Version.text, digest: "d")
    }
    func texts(_ check: NodeCheck) async -> [String] {
      await DoctorReport.others(nodes, own: "own", "d", settings, check).map {
        "\($0.verdict) \($0.text)"
      }
    }
    #expect(await texts(check("a", "c")) == ["good http://a responds as this node"])
    #expect(
      await texts(check("b", "c")) == ["bad http://a is the address of another node, b"])
    #expect(await texts(check("a", "d")) == ["bad http://a belongs to another cluster"])
  }
}
