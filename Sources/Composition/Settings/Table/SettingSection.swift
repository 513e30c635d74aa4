/// Rows that belong together, in the order in which they are shown.
package struct SettingSection: Sendable {
  /// Empty for the settings outside any section.
  package let name: String
  package let doc: String
  package let keys: [SettingKey]

  init(_ name: String, _ doc: String, isInUse: Bool = true, _ keys: [SettingKey]) {
    self.name = name
    self.doc = doc
    self.keys = isInUse ? keys : keys.map(\.reserved)
  }
}
