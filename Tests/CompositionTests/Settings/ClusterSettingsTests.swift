import HTTPClient
import Testing

@testable import Composition

struct ClusterSettingsTests {
  private static let secret = String(repeating: "s", count: 32)
  private static let base = "files: off\ncluster:\n"

  /// A valid node, with further lines of the section.
  private static func node(_ lines: String...) -> String {
    base + "  postgres: postgres://larder:pw@db/larder\n"
      + "  advertise: http://10.0.0.2:8080\n  secret: \(secret)\n"
      + lines.map { "  \($0)\n" }.joined()
  }

  private static func cluster(_ yaml: String) throws -> ClusterSettings {
    try SettingsFixture(yaml: yaml).load().settings.cluster
  }

  @Test("A machine without the section is a single one")
  func isOffByDefault() throws {
    let settings = try Self.cluster("")
    #expect(!settings.isOn)
    #expect(settings.name == "larder" && settings.lease == .seconds(5) && settings.isCandidate)
    #expect(settings.snapshots.interval == .seconds(3_600))
    #expect(settings.snapshots.logBytesMax == 1 << 30)
  }

  @Test("Every setting of a node is read")
  func readsAll() throws {
    let settings = try Self.cluster(
      Self.node(
        "name: shop_2", "lease: 10s", "candidate: false",
        "snapshots: {every: 10m, logBytesMax: 256MiB}"))
    #expect(settings.isOn)
    #expect(settings.postgres?.revealed.revealed == "postgres://larder:pw@db/larder")
    #expect(settings.advertise?.text == "http://10.0.0.2:8080")
    #expect(settings.secret?.revealed == Self.secret)
    #expect(settings.name == "shop_2" && settings.lease == .seconds(10) && !settings.isCandidate)
    #expect(settings.snapshots.interval == .seconds(600))
    #expect(settings.snapshots.logBytesMax == 256 << 20)
  }

  @Test("Variables set a node")
  func readsVariables() throws {
    let fixture = SettingsFixture(
      yaml: "files: off",
      environment: [
        "LARDER_CLUSTER_POSTGRES": "postgresql://db/larder",
        "LARDER_CLUSTER_ADVERTISE": "https://node-1.internal",
        "LARDER_CLUSTER_SECRET": Self.secret, "LARDER_CLUSTER_SNAPSHOTS_EVERY": "2h",
      ])
    let settings = try fixture.load().settings.cluster
    #expect(settings.isOn && settings.snapshots.interval == .seconds(7_200))
  }

  @Test(
    "Hosts of a connection URI",
    arguments: [
      ("postgres://db/larder", ["db"]), ("postgresql://u:p%40@db:5433/x", ["db"]),
      ("postgres://a:1,b:2,[::1]:3/x", ["a", "b", "::1"]), ("postgres:///x", []),
      ("postgres://%2Frun%2Fpostgresql/x", ["/run/postgresql"]),
      ("postgres://db/x?host=/run/postgresql", ["/run/postgresql"]),
      ("postgres://u@/x?host=a,b&port=1,2", ["a", "b"]), ("postgres://db", ["db"]),
      ("postgres://[fd00::1]/x?sslmode=require", ["fd00::1"]),
    ])
  func readsHosts(text: String, hosts: [String]) throws {
    #expect(try PostgresURL(parsing: text).hosts == hosts)
  }

  @Test(
    "What is no connection URI is refused without being shown",
    arguments: [
      ("mysql://u:Tr0ub4dor@db/x", "it must begin with postgres:// or postgresql://"),
      ("host=db password=Tr0ub4dor", "it must begin with postgres:// or postgresql://"),
      ("postgres://u:Tr0ub4dor@x@db/x", "`@` in a user name or password must be written as %40"),
      ("postgres://u:Tr0ub4dor@db:0/x", "its port must be 1 to 65535"),
      ("postgres://u:Tr0ub4dor@db:99999/x", "its port must be 1 to 65535"),
      ("postgres://u:Tr0ub4dor@d b/x", "blanks, control and non-ASCII characters"),
      ("postgres://u:Tr0ub4dor@::1/x", "the host is not valid"),
      ("postgres://u:Tr0ub4dor@db/x?sslmode", "its parameters must be written as name=value"),
      ("postgres://u:Tr0ub4dor#1@db/x", "`#` must be written as %23"),
    ])
  func refusesOtherURIs(text: String, reason: String) {
    let yaml =
      Self.base + "  postgres: \"\(text)\"\n  advertise: http://a\n  secret: \(Self.secret)\n"
    let faults = SettingsFixture(yaml: yaml).faults()
    #expect(faults.count == 1, "\(faults)")
    #expect(faults.first?.contains(reason) == true, "\(faults)")
    #expect(!SettingsFixture(yaml: yaml).report().contains("Tr0ub4dor"))
  }

  @Test("A URI shows as asterisks however it is printed")
  func masksTheURI() throws {
    let url = try PostgresURL(parsing: "postgres://u:Tr0ub4dor@db/x?password=Tr0ub4dor&a=b")
    var dumped = ""
    dump(["a": url], to: &dumped)
    for text in ["\(url)", String(reflecting: url), dumped, "\(url.parameters)"] {
      #expect(!text.contains("Tr0ub4dor"), "\(text)")
    }
    #expect(url.parameters == ["a": "b"])
    let loaded = try SettingsFixture(yaml: Self.node()).load()
    #expect(!SettingsDump.yaml(loaded).contains("larder:pw"))
  }

  @Test("All faults of a node are reported at once")
  func reportsAllFaults() {
    let faults = SettingsFixture(
      yaml: """
        start: {otherKey: accept}
        cluster:
          postgres: postgres://db/larder
          advertise: http://0.0.0.0:8080/api
          name: Shop
          lease: 1s
        """
    ).faults()
    #expect(faults.count == 7, "\(faults)")
    for text in [
      "larder.yaml:1:19: `start.otherKey: accept` cannot be used in a cluster",
      "`cluster.postgres` needs `cluster.secret`", "`cluster.postgres` needs `files.store: s3`",
      "`cluster.advertise` must not have a path, but has /api",
      "`cluster.advertise` must be an address of this node, and 0.0.0.0 means every address",
      "`cluster.name` must be a name of 1 to 32 lower-case letters, digits and underscores",
      "`cluster.lease` must be a duration from 2s to 1m",
    ] {
      #expect(faults.contains { $0.contains(text) }, "\(text) in \(faults)")
    }
  }

  @Test(
    "A setting of a cluster without `cluster.postgres` is a fault",
    arguments: [
      "advertise: http://a", "name: shop", "lease: 5s", "candidate: true",
      "snapshots: {every: 1h}",
    ])
  func needsPostgres(line: String) {
    let faults = SettingsFixture(yaml: "cluster: {\(line)}").faults()
    #expect(faults.count == 1)
    #expect(faults.first?.contains("needs `cluster.postgres`, without which") == true, "\(faults)")
  }

  @Test(
    "Files must be in S3 or off, whether the default or a setting keeps them on the disk",
    arguments: [
      ("", "larder.yaml:3:13: `cluster.postgres` needs `files.store: s3`"),
      ("files: {store: disk}", "larder.yaml:1:16: `cluster.postgres` needs `files.store: s3`"),
      ("files: off", nil),
      ("files: {store: s3, endpoint: http://s3, accessKey: a, secretKey: b}", nil),
    ])
  func needsSharedFiles(files: String, fault: String?) {
    let yaml =
      "\(files)\ncluster:\n  postgres: postgres://db/x\n  advertise: http://a\n"
      + "  secret: \(Self.secret)\n"
    let faults = SettingsFixture(yaml: yaml).faults()
    #expect(faults.count == (fault == nil ? 0 : 1), "\(faults)")
    if let fault { #expect(faults.first?.hasPrefix(fault) == true, "\(faults)") }
  }

  @Test(
    "Addresses that other nodes cannot use are noted",
    arguments: [
      ("postgres://db/x", "http://127.0.0.1:1", "127.0.0.1, which other machines cannot reach"),
      ("postgres://db/x", "http://[::1]:1", "::1, which other machines cannot reach"),
      ("postgres://db/x", "http://localhost:1", "localhost, which other machines cannot reach"),
      ("postgres://127.0.0.1/x", "http://127.0.0.1:1", nil),
      ("postgres:///x", "http://[::1]:1", nil),
      ("postgres://db/x", "http://10.0.0.1:1", nil),
      ("postgres://a,b/x", "http://10.0.0.1:1", "without `target_session_attrs=read-write`"),
      ("postgres://a,b/x?target_session_attrs=read-write", "http://10.0.0.1:1", nil),
      ("postgres://db/x", "https://api.example.com", "`cluster.advertise` is `publicUrl`"),
    ])
  func notesAddresses(postgres: String, advertise: String, note: String?) throws {
    let loaded = try SettingsFixture(
      yaml: "publicUrl: https://api.example.com\n" + Self.base
        + "  postgres: \"\(postgres)\"\n  advertise: \"\(advertise)\"\n  secret: \(Self.secret)\n"
    ).load()
    #expect(loaded.notes.count == (note == nil ? 0 : 1), "\(loaded.notes)")
    if let note { #expect(loaded.notes.first?.message.contains(note) == true, "\(loaded.notes)") }
  }

  @Test("A reload leaves the cluster as it is, and names what needs a restart")
  func staysUntilRestart() throws {
    let running = try SettingsFixture(yaml: Self.node()).load().settings
    let loaded = try SettingsFixture(yaml: Self.node("lease: 10s", "candidate: false")).load()
    let (kept, names) = loaded.keepingUntilRestart(of: running, servesS3: true)
    #expect(names == ["cluster.lease", "cluster.candidate"])
    #expect(kept.settings.cluster.lease == .seconds(5) && kept.settings.cluster.isCandidate)
    // A node does not join or leave a cluster while it serves.
    let single = try SettingsFixture(yaml: "files: off").load()
    let stays = single.keepingUntilRestart(of: running, servesS3: true)
    #expect(stays.loaded.settings.cluster.isOn)
    #expect(stays.names.contains("cluster.postgres"))
  }
}
