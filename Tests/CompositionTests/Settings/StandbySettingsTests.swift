import Testing

@testable import Composition

struct StandbySettingsTests {
  private static let secret = String(repeating: "s", count: 32)

  private static func yaml(_ lines: String...) -> String {
    "files: off\nstandby:\n  secret: \(secret)\n" + lines.map { "  \($0)\n" }.joined()
  }

  @Test("A machine without the section has no standby")
  func isOffByDefault() throws {
    let standby = try SettingsFixture(yaml: "").load().settings.standby
    #expect(!standby.isOn && standby.name == "larder" && standby.lease == .seconds(15))
    #expect(standby.segmentInterval == .seconds(1) && standby.keep == .seconds(7 * 86_400))
  }

  @Test("Every setting is read")
  func readsAll() throws {
    let standby = try SettingsFixture(
      yaml: Self.yaml(
        "bucket: shop-standby", "endpoint: https://s3.example.com", "region: eu", "accessKey: a",
        "secretKey: b", "pathStyle: false", "name: shop", "lease: 30s", "segment: 500ms",
        "snapshots: 1h", "keep: 2d")
    ).load().settings.standby
    #expect(standby.isOn && standby.bucket == "shop-standby" && standby.folder == nil)
    #expect(standby.endpoint?.text == "https://s3.example.com" && standby.region == "eu")
    #expect(standby.accessKey == "a" && standby.secretKey?.revealed == "b")
    #expect(standby.usesPathStyle == false && standby.name == "shop")
    #expect(standby.lease == .seconds(30) && standby.segmentInterval == .milliseconds(500))
    #expect(standby.snapshotInterval == .seconds(3_600) && standby.keep == .seconds(2 * 86_400))
    #expect(standby.secret?.revealed == Self.secret)
  }

  @Test(
    "What does not fit is refused, all at once",
    arguments: [
      (
        "standby:\n  folder: /mnt\n",
        ["`standby.folder` needs `standby.secret`", "files.store: s3"]
      ),
      ("standby:\n  lease: 5s\n", ["`standby.lease` needs `standby.folder` or `standby.bucket`"]),
      (
        yaml("folder: /mnt", "bucket: shop"),
        [
          "cannot both be set", "`standby.bucket` needs `standby.endpoint`",
          "`standby.bucket` needs `standby.accessKey`",
          "`standby.bucket` needs `standby.secretKey`",
        ]
      ),
      (yaml("folder: /mnt", "segment: 10s"), ["must be at most half of `standby.lease`"]),
      (yaml("folder: /mnt", "keep: 2h"), ["must not exceed `standby.keep`"]),
      (
        yaml("bucket: shop", "endpoint: https://s3.example.com/x", "accessKey: a", "secretKey: b"),
        ["must not have a path"]
      ),
      (
        yaml("folder: /mnt") + "cluster:\n  postgres: postgres://db/x\n  advertise: http://n:1\n"
          + "  secret: \(secret)\n",
        ["cannot be used with `cluster.postgres`"]
      ),
      (
        yaml("folder: /mnt") + "start: {otherKey: accept}\n",
        ["`start.otherKey: accept` cannot be used"]
      ),
    ])
  func refuses(yaml: String, messages: [String]) throws {
    do {
      _ = try SettingsFixture(yaml: yaml).load()
      Issue.record("it was taken")
    } catch {
      for message in messages { #expect("\(error)".contains(message), "\(error)") }
    }
  }

  @Test("The service of the bucket is that of the files unless it is set")
  func usesFiles() throws {
    let settings = try SettingsFixture(
      yaml: """
        files: {store: s3, endpoint: "https://s3.example.com", accessKey: a, secretKey: b}
        standby: {bucket: shop, secret: \(Self.secret)}
        """
    ).load().settings
    #expect(settings.standby.isOn && settings.standby.endpoint == nil)
  }
}
