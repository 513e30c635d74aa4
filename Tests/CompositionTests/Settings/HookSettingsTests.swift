import Testing

@testable import Composition

struct HookSettingsTests {
  private static let plain = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

  @Test("Webhooks are read with their tables, and shown without their secrets")
  func readsHooks() throws {
    let yaml = """
      hooks:
        in:
          films:
            format: hasura
            secret: [0123456789abcdef, fedcba9876543210]
            tables:
              item: {type: Item, columns: {item_id: id, owner_id: [owner, ownerId], internal: }}
              shop.order:
                type: Order
                invalidates: [Orders, "tag:home"]
          cms: {format: plain, secret: \(Self.plain)}
      """
    let loaded = try SettingsFixture(yaml: yaml).load()
    let hooks = loaded.settings.hooks
    #expect(hooks.keys.sorted() == ["cms", "films"])
    #expect(hooks["films"]?.secrets.map(\.revealed) == ["0123456789abcdef", "fedcba9876543210"])
    let item = hooks["films"]?.tables["item"]
    #expect(item?.type == "Item")
    #expect(
      item?.columns == ["item_id": ["id"], "owner_id": ["owner", "ownerId"], "internal": []])
    #expect(hooks["films"]?.tables["shop.order"]?.invalidates == ["Orders", "tag:home"])
    let dump = SettingsDump.yaml(loaded)
    #expect(!dump.contains("0123456789abcdef") && !dump.contains("MfKQ9r8GKY"), "\(dump)")
    #expect(dump.contains("owner_id: [owner, ownerId]"), "\(dump)")
  }

  @Test(
    "Faults of webhooks are reported",
    arguments: [
      (
        "{a: {format: hasura}}",
        ["`hooks.in.a` needs `hooks.in.a.secret`", "needs `hooks.in.a.tables`"]
      ),
      ("{a: {secret: 0123456789abcdef}}", ["`hooks.in.a` needs `hooks.in.a.format`"]),
      (
        "{a: {format: hasura, secret: short, tables: {i: {type: I}}}}",
        ["`hooks.in.a.secret` must have at least 16 characters"]
      ),
      (
        "{a: {format: plain, secret: 0123456789abcdef}}",
        ["`hooks.in.a.secret` must be 24 to 64 bytes in base64"]
      ),
      (
        "{a: {format: plain, secret: \(plain), tables: {i: {type: I}}}}",
        ["`hooks.in.a.tables` needs `format: hasura`"]
      ),
      (
        "{a/b: {format: plain, secret: \(plain)}}",
        ["a name under `hooks.in` must be a name of 1 to 64"]
      ),
      (
        "{a: {format: hasura, secret: 0123456789abcdef, tables: {i: {typ: I}}}}",
        ["the table `i` has no `typ`. Did you mean \"type\"", "the table `i` needs `type`"]
      ),
      (
        "{a: {format: hasura, secret: 0123456789abcdef, tables: [i]}}",
        ["`hooks.in.a.tables` must be a section such as"]
      ),
      (
        "{a: {format: hasura, secret: 0123456789abcdef, tables: {i: {type: I, columns: {c: 7x}}}}}",
        ["each element of `hooks.in.a.tables` must be a GraphQL name"]
      ),
    ] as [(String, [String])])
  func reportsFaults(hooks: String, expected: [String]) {
    let faults = SettingsFixture(yaml: "hooks: {in: \(hooks)}").faults()
    #expect(faults.count == expected.count, "\(faults)")
    for part in expected { #expect(faults.contains { $0.contains(part) }, "\(faults)") }
    #expect(!faults.contains { $0.contains("0123456789abcdef") || $0.contains("MfKQ9r8GKY") })
  }
}
