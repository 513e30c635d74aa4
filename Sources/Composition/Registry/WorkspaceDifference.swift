import Upstream

/// What a reload changes, for the log.
struct WorkspaceDifference: Sendable, Equatable {
  /// Names of operations, in alphabetical order.
  let added: [String]
  let removed: [String]
  /// Operations whose document, variables, path or rules are others. An operation whose types have changed in
  /// the schema alone is not among them.
  let changed: [String]
  /// Names of settings with another value, in the order of the table. Other secrets are not noticed.
  let settings: [String]

  init(from old: Workspace, to new: Workspace) {
    let before = Self.byName(old)
    let after = Self.byName(new)
    added = after.keys.filter { before[$0] == nil }.sorted()
    removed = before.keys.filter { after[$0] == nil }.sorted()
    changed = after.filter { name, operation in
      before[name].map { !$0.isLike(operation) } ?? false
    }.keys.sorted()
    settings = SettingTable.changedNames(from: old.settings, to: new.settings)
  }

  private static func byName(_ workspace: Workspace) -> [String: RegisteredOperation] {
    Dictionary(
      workspace.registry.operations.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
  }
}

extension RegisteredOperation {
  /// Whether another operation of the same name does the same.
  fileprivate func isLike(_ other: RegisteredOperation) -> Bool {
    document == other.document && identity == other.identity && kind == other.kind
      && upstream == other.upstream && route == other.route && cache == other.cache
      && access == other.access && sync == other.sync && effects == other.effects
      && lookup == other.lookup && description == other.description
  }
}

extension SettingTable {
  /// Returns the names of the settings that are shown differently, in the order of the table.
  static func changedNames(from old: Settings, to new: Settings) -> [String] {
    keys.flatMap { key -> [String] in
      let before = texts(key.show(old))
      let after = texts(key.show(new))
      return Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }.sorted()
    }
  }

  private static func texts(_ shown: [SettingKey.Shown]) -> [String: String] {
    shown.reduce(into: [:]) { texts, value in texts[value.name] = value.text }
  }
}
