/// Settings that passed every check, and what can be said about where they came from.
package struct LoadedSettings: Sendable {
  package let settings: Settings
  /// Sorted by place.
  package let notes: [SettingsNote]
  /// By a setting's full name, as `types.Film.key`; a default has no place.
  package let places: [String: SettingPlace]
}

extension Settings {
  /// Fills settings from defaults, file, environment and flags, each over the one before.
  ///
  /// - Parameter required: settings the caller cannot do without, by name.
  /// - Throws: all faults of all sources at once, also of values that a later source replaces.
  package static func load(
    from sources: SettingsSources, requiring required: [String] = []
  ) throws(SettingsFaults) -> LoadedSettings {
    var reader = SettingsReader(sources)
    reader.readFile()
    reader.readEnvironment()
    reader.readFlags()
    reader.check(required: required)
    return try reader.finish()
  }
}
