import Testing

@testable import Composition

struct SettingsReferenceTests {
  private let lines = SettingsReference.markdown.split(separator: "\n")

  @Test(
    "The reference has every setting with its variable",
    arguments: SettingTable.keys)
  func listsEverySetting(key: SettingKey) throws {
    let row = try #require(lines.first { $0.hasPrefix("| `\(key.name)` |") })
    let variable = EnvironmentNames.variable(for: key.openSection ?? key.components)
    #expect(row.contains("`\(variable)`"))
    #expect(row.contains(key.doc.split(separator: "|").first ?? ""))
    #expect(row.contains("Secret.") == key.isSecret)
  }

  @Test("The reference shows the default")
  func showsDefault() throws {
    let row = try #require(lines.first { $0.hasPrefix("| `cache.staleIfError` |") })
    #expect(row.contains("| `1d` |"))
  }

  @Test(
    "The examples in the reference load",
    arguments: SettingTable.keys.filter {
      !$0.isSecret || $0.components.last?.hasPrefix("<") == true
    })
  func showsExamplesThatLoad(key: SettingKey) throws {
    let yaml = Self.example(of: key)
    #expect(SettingsFixture(yaml: yaml).faults() == [], "\(yaml)")
  }

  /// Settings with the example of one.
  static func example(of key: SettingKey) -> String {
    let path = (key.openSection ?? key.components).map(String.init)
    let names =
      key.memberForm == nil || key.isSecret
      ? path : key.components.map { Self.members[$0] ?? "\($0)" }
    let lines = names.enumerated().map { depth, name in
      String(repeating: "  ", count: depth) + name + ":"
    }
    return lines.joined(separator: "\n") + " \(key.example)\n" + (Self.beside[key.name] ?? "")
  }

  /// Names in place of angle brackets, where not every name is valid.
  private static let members: [Substring: String] = [
    "<Type>": "Film", "<bucket>": "pics", "<upstream>": "shop", "<link>": "Film.offers",
    "<hook>": "films", "<Scalar>": "DateTime",
  ]

  private static let clusterSecret = "  secret: \(String(repeating: "a", count: 32))"
  private static let cluster =
    "  postgres: postgres://db/larder\n  advertise: http://10.0.0.2\n\(clusterSecret)\nfiles: off"

  private static let keys = "  accessKey: a\n  secretKey: b"
  private static let shared = "  folder: /mnt/larder\n\(besideFolder)"
  private static let besideFolder = "\(clusterSecret)\nfiles: off"
  private static let bucket = "  bucket: larder-standby\n"
  private static let endpoint = "  endpoint: http://s3\n"

  /// Settings that an example needs.
  private static let beside = [
    "cluster.advertise": "  postgres: postgres://db/larder\n\(clusterSecret)\nfiles: off",
    "cluster.name": cluster, "cluster.lease": cluster, "cluster.candidate": cluster,
    "cluster.snapshots.every": cluster, "cluster.snapshots.logBytesMax": cluster,
    "standby.folder": besideFolder, "standby.bucket": "\(endpoint)\(keys)\n\(besideFolder)",
    "standby.endpoint": "\(bucket)\(keys)\n\(besideFolder)",
    "standby.region": "\(bucket)\(endpoint)\(keys)\n\(besideFolder)",
    "standby.accessKey": "\(bucket)\(endpoint)  secretKey: b\n\(besideFolder)",
    "standby.pathStyle": "\(bucket)\(endpoint)\(keys)\n\(besideFolder)",
    "standby.name": shared, "standby.lease": shared, "standby.segment": shared,
    "standby.snapshots": shared, "standby.keep": shared,
    "admin.viewerToken": "  token: \(String(repeating: "a", count: 40))",
    "metrics.access": "admin:\n  token: \(String(repeating: "a", count: 40))",
    "tls.hsts": "  certificate: a.pem\n  key: a.key",
    "accounts.provider": "  domain: a.example\n  clientId: a\n  audience: a",
    "accounts.issuers.<issuer>.url": "      audience: a",
    "accounts.issuers.<issuer>.audience": "      url: http://a",
    "accounts.issuers.<issuer>.keys": "      url: http://a\n      audience: a",
    "files.store": "  endpoint: http://s3\n  accessKey: a\n  secretKey: b",
    "push.sender": "  appId: a\n  apiKey: b",
    "hooks.in.<hook>.format":
      "      secret: 0123456789abcdef\n      tables: {item: {type: Item}}",
    "hooks.in.<hook>.tables": "      format: hasura\n      secret: 0123456789abcdef",
    "links.<link>.type": "    field: filmId",
    "links.<link>.field": "    type: Offer",
    "tls.certificate": "  key: a",
    "tls.key": "  certificate: a",
    "tls.certificates.<certificate>.certificate":
      "      key: a\n  certificate: b\n  key: c",
    "tls.certificates.<certificate>.key":
      "      certificate: a\n  certificate: b\n  key: c",
  ]

  @Test("Setting names are unique")
  func settingNamesAreUnique() {
    #expect(Set(SettingTable.keys.map(\.name)).count == SettingTable.keys.count)
  }
}

extension SettingKey: CustomTestStringConvertible {
  public var testDescription: String { name }
}
