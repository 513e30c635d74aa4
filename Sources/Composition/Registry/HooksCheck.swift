import Cryptography
import Gateway
import GraphQL
import Model
import Upstream

/// The check of `hooks.in` in settings against the schema, and the webhooks that result.
///
/// A table of a type that the schema does not have is a fault: its changes would be lost. A type that
/// no operation selects is a warning, because the operation can come back.
struct HooksCheck {
  let settings: [String: HookSettings]
  let outline: SchemaOutline?

  var faults: [SettingsFault] {
    tables.flatMap { hook, name, table in
      (faults(of: table) + faults(ofName: name, in: hook)).map {
        SettingsFault(table.place, "`hooks.in.\(hook).tables.\(name)`: \($0)")
      }
    }
  }

  /// Faults of a table's name, which events never have or which is written in two ways.
  private func faults(ofName name: String, in hook: String) -> [String] {
    let parts = name.split(separator: ".", omittingEmptySubsequences: false)
    if parts.contains(where: { !Self.isName($0) }) {
      return ["must be the name of a table, or schema and table such as shop.item"]
    }
    let standard = "\(HookTable.defaultSchema)."
    guard name.hasPrefix(standard) else { return [] }
    let short = String(name.dropFirst(standard.count))
    guard settings[hook]?.tables[short] != nil else { return [] }
    return ["is the same table as `\(short)`, which is written too; remove one of the two"]
  }

  private static func isName(_ part: Substring) -> Bool {
    guard let first = part.unicodeScalars.first, let last = part.unicodeScalars.last else {
      return false
    }
    return !first.properties.isWhitespace && !last.properties.isWhitespace
      && !part.unicodeScalars.contains { $0.properties.generalCategory == .control }
  }

  /// Tables can have such names, but a list that was meant as several is more likely.
  private var spacedNames: [Finding] {
    tables.filter { $0.name.contains(" ") }.map { hook, name, _ in
      Finding(
        severity: .warning,
        message: "hooks.in.\(hook).tables has the table `\(name)`, whose name has a space; write "
          + "several tables as several members.", setting: "hooks.in.\(hook).tables")
    }
  }

  var warnings: [Finding] {
    tables.filter { outline?.isEntity($2.type) == true && outline?.isStored($2.type) == false }
      .map { hook, name, table in
        Finding(
          severity: .warning,
          message: "hooks.in.\(hook).tables.\(name) has no effect: no operation selects the type "
            + "\(table.type).", setting: "hooks.in.\(hook).tables")
      } + spacedNames
  }

  /// The webhooks of settings without faults, in alphabetical order.
  var hooks: [Hook] {
    settings.sorted { $0.key < $1.key }.compactMap { name, hook in
      switch hook.format {
      case .plain:
        Hook(
          name: name,
          format: .plain(keys: hook.secrets.compactMap { WebhookSignature.key($0.revealed) }))
      case .hasura:
        Hook(
          name: name,
          format: .hasura(
            secrets: hook.secrets.map(\.revealed),
            tables: hook.tables.mapValues { table in
              HookTable(
                type: table.type, columns: table.columns,
                invalidations: table.invalidates.flatMap { targets($0) ?? [] })
            }))
      case nil: nil
      }
    }
  }

  private var tables: [(hook: String, name: String, table: HookTableSettings)] {
    settings.sorted { $0.key < $1.key }.flatMap { hook, settings in
      settings.tables.sorted { $0.key < $1.key }.map { (hook, $0.key, $0.value) }
    }
  }

  private func targets(_ name: String) -> [InvalidationTarget]? {
    guard let outline else { return nil }
    return try? outline.targets(named: name)
  }

  private func faults(of table: HookTableSettings) -> [String] {
    guard let outline, outline.isEntity(table.type) else {
      let names = outline?.entityTypes ?? []
      return [
        "the schema has no entity type \(table.type)."
          + NearestNames.didYouMean(table.type, among: names)
      ]
    }
    let fields = outline.fieldNames(of: table.type) ?? []
    var faults: [String] = []
    for (column, names) in table.columns.sorted(by: { $0.key < $1.key }) {
      for name in names where !fields.contains(name) {
        faults.append(
          "the column \(column) is mapped to \(name), which is not a field of \(table.type)."
            + NearestNames.didYouMean(name, among: fields))
      }
    }
    let mapped = table.columns.values.flatMap { $0 }
    for key in outline.keyFields(of: table.type) where !mapped.contains(key) {
      // A column that is not named in `columns` has the field of its own name.
      guard let fields = table.columns[key] else { continue }
      faults.append(
        fields.isEmpty
          ? "the column \(key) is left out, but \(key) is part of the key of \(table.type)"
          : "the column \(key) is mapped to \(fields.joined(separator: ", ")), so that no column is "
            + "left for \(key), which is part of the key of \(table.type)")
    }
    for name in Set(mapped).sorted() where mapped.filter({ $0 == name }).count > 1 {
      faults.append("two columns are mapped to \(name)")
    }
    for name in table.invalidates {
      do throws(SchemaOutline.UnknownName) {
        _ = try outline.targets(named: name)
      } catch {
        faults.append("`invalidates`: \(name) \(error.detail)")
      }
    }
    return faults
  }
}

extension HooksCheck {
  /// One line for each webhook or table: what it stores for all callers.
  var lines: [(hook: String, text: String)] {
    settings.sorted { $0.key < $1.key }.flatMap { name, hook -> [(hook: String, text: String)] in
      guard let outline else { return [] }
      switch hook.format {
      case .hasura:
        return hook.tables.sorted { $0.key < $1.key }.map { table, settings in
          (name, "table \(table): \(Self.reach(of: settings.type, outline))")
        }
      case .plain:
        let types = outline.entityTypes.filter(outline.isStored)
        return types.map { (name, Self.reach(of: $0, outline)) }
      case nil: return []
      }
    }
  }

  private static func reach(of type: String, _ outline: SchemaOutline) -> String {
    let fields = outline.publicFields(of: type)
    return fields.isEmpty
      ? "\(type), only marked for a refetch, since no operation shows it to all callers"
      : "\(type), stored for all callers: \(fields.joined(separator: ", "))"
  }
}
