import GraphQL

extension SettingTable {
  static let hooks = SettingSection(
    "hooks",
    "Webhooks by which upstream reports changes, at `/v1/hooks/<hook>`, and hooks that are called about "
      + "writes and mutations.",
    [
      SettingKey(
        "hooks.in.<hook>.format", membersOf: \.hooks, named: .hookName, fresh: HookSettings(),
        \.format, .optional(.choice), example: "hasura",
        doc: "Format of the messages: event triggers of Hasura, or `plain` ones signed after the "
          + "Standard Webhooks specification."),
      SettingKey(
        "hooks.in.<hook>.secret", membersOf: \.hooks, named: .hookName, fresh: HookSettings(),
        \.secrets, .list(.secret("a secret of one line"), countMin: 1), example: Secret.mask,
        doc:
          "Secret of the sender; several are accepted while it is changed. `hasura`: the value of "
          + "the header field `webhook-secret`, at least 16 characters. `plain`: 24 to 64 bytes in "
          + "base64, with or without `whsec_`."),
      SettingKey(
        "hooks.in.<hook>.tables", membersOf: \.hooks, named: .hookName, fresh: HookSettings(),
        \.tables, .hookTables,
        example: "{item: {type: Item, columns: {item_id: id}, invalidates: [Items]}}",
        doc: "Tables whose rows are stored, with `format: hasura`. A name without a schema is in "
          + "`public`. `columns` names the fields of columns that are called otherwise; a column "
          + "without a value is left out. `invalidates` names operations, types and `tag:name` that "
          + "become due when rows are inserted or deleted."),
      SettingKey(
        "hooks.out", \.outgoingHooks, .outgoingHooks,
        example: "[{on: Trip insert, when: after, url: https://api.example.com/trips, "
          + "secret: \(Secret.mask)}]",
        doc: "Hooks that are called about writes to local types (`on: <Type> insert`, `update` or "
          + "`delete`), to local fields of upstream types (`on: <Type> update`) and outcomes of "
          + "mutations (`on: mutation <Operation> applied`, `rejected` or "
          + "`parked`). `when: before` asks whether a write is allowed; `when: after` reports it, at "
          + "least once. `timeout` is from 100ms to 30s, by default 2s; `onTimeout: refuse` (the "
          + "default) or `allow` says what no decision of a hook `before` means. `secret` as for "
          + "`plain` webhooks. `name` distinguishes hooks with the same `on` and `when`."),
      SettingKey(
        "hooks.outSecret", \.outgoingHookSecrets, .list(.secret("a secret of one line")),
        example: Secret.mask,
        doc: "Secret of the elements of `hooks.out` that have no `secret`; with several, requests "
          + "are signed with each, so that receivers can change theirs."),
    ])
}

extension TextForm where Value == String {
  /// A part of a path that needs no encoding.
  static var hookName: Self {
    Self(
      noun: "a name of 1 to 64 letters, digits, hyphens and underscores",
      parse: { text, _ throws(ValueRefusal) in
        guard (1...64).contains(text.utf8.count),
          text.utf8.allSatisfy({ $0.isASCIIAlphanumeric || $0 == 0x2D || $0 == 0x5F })
        else { throw ValueRefusal() }
        return text
      },
      print: { $0 })
  }
}

extension SettingShape where Value == [String: HookTableSettings] {
  /// A section of tables, each `{type: Item, columns?: {column: field}, invalidates?: [name]}`.
  static var hookTables: Self {
    Self(
      noun: "a section of tables", isSecret: false,
      read: { raw, reader in
        guard let value = reader.structured(raw, "a section of tables") else { return nil }
        guard case .map(let entries) = value.form else {
          reader.refuse(
            raw,
            "`\(reader.name)` must be a section such as {item: {type: Item}}, not \(value.shape)")
          return nil
        }
        var tables: [String: HookTableSettings] = [:]
        for entry in entries {
          guard let table = HookTableForm.read(entry, &reader) else { continue }
          if tables.updateValue(table, forKey: entry.name) != nil {
            reader.refuse(
              RawValue(form: .empty, place: entry.place), "`\(entry.name)` is written twice")
          }
        }
        return reader.faults.isEmpty ? tables : nil
      },
      show: { tables in
        guard !tables.isEmpty else { return nil }
        let texts = tables.sorted { $0.key < $1.key }.map { name, table in
          "\(YAMLText.scalar(name)): \(HookTableForm.print(table))"
        }
        return "{\(texts.joined(separator: ", "))}"
      })
  }
}

/// The written form of one table of a webhook.
private enum HookTableForm {
  static func read(_ entry: RawEntry, _ reader: inout ValueReader) -> HookTableSettings? {
    let countBefore = reader.faults.count
    guard
      let values = reader.members(
        of: entry.value, "the table `\(entry.name)`", required: ["type"],
        optional: ["columns", "invalidates"], example: "{type: Item}")
    else { return nil }
    let name = values["type"].flatMap { reader.one($0, .graphQLName) }
    let columns = values["columns"].map { readColumns($0, &reader) } ?? [:]
    let invalidates = values["invalidates"].flatMap {
      reader.list($0, .text("an operation, a type or tag:name"), countMin: 0)
    }
    guard let name, reader.faults.count == countBefore else { return nil }
    return HookTableSettings(
      type: name, columns: columns, invalidates: invalidates ?? [], place: entry.place)
  }

  private static func readColumns(
    _ raw: RawValue, _ reader: inout ValueReader
  ) -> [String: [String]] {
    guard case .map(let entries) = raw.form else {
      if case .empty = raw.form { return [:] }
      reader.refuse(raw, "`columns` must be a section such as {item_id: id}, not \(raw.shape)")
      return [:]
    }
    var columns: [String: [String]] = [:]
    for entry in entries {
      var fields: [String]? = []
      if case .empty = entry.value.form {
      } else {
        fields = reader.list(entry.value, .graphQLName, countMin: 1)
      }
      guard let fields else { continue }
      if columns.updateValue(fields, forKey: entry.name) != nil {
        reader.refuse(entry.value, "the column `\(entry.name)` is written twice")
      }
    }
    return columns
  }

  static func print(_ table: HookTableSettings) -> String {
    var members = ["type: \(YAMLText.scalar(table.type))"]
    if !table.columns.isEmpty {
      let columns = table.columns.sorted { $0.key < $1.key }.map { column, fields in
        let value =
          switch fields.count {
          case 0: "null"
          case 1: YAMLText.scalar(fields[0])
          default: YAMLText.list(fields)
          }
        return "\(YAMLText.scalar(column)): \(value)"
      }
      members.append("columns: {\(columns.joined(separator: ", "))}")
    }
    if !table.invalidates.isEmpty {
      members.append("invalidates: \(YAMLText.list(table.invalidates))")
    }
    return "{\(members.joined(separator: ", "))}"
  }
}
