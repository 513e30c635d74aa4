/// Settings that passed every check, with the places they were read from.
package struct LoadedSettings: Sendable {
  package let settings: Settings
  /// Sorted by place.
  package let notes: [SettingsNote]
  /// Places by full name of the setting, such as `types.Film.key`; a default has no place.
  package let places: [String: SettingPlace]
  /// The lines of the settings file, for faults that the operations show.
  let excerpt: SourceExcerpt
}

extension LoadedSettings {
  /// The place of a setting; of one that is not written, that of the first setting under it, else the
  /// place of the sources as a whole.
  func place(of name: String) -> SettingPlace {
    places[name] ?? places.filter { $0.key.hasPrefix("\(name).") }.map(\.value).min()
      ?? .wholeFile(name: "settings")
  }
}

extension Settings {
  /// Loads settings from defaults, file, environment and flags; later values override earlier ones.
  ///
  /// - Parameter required: names of the settings that the caller requires.
  /// - Throws: all faults of all sources together, including faults in values that a later source
  ///   overrides.
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

/// One pass over all sources of settings. Values are assigned to ``settings`` as they are read;
/// faults are collected and reading continues.
struct SettingsReader {
  private let sources: SettingsSources
  private var settings: Settings
  private var places: [String: SettingPlace] = [:]
  private var faults: [SettingsFault] = []
  private var notes: [SettingsNote] = []
  private var excerpt: SourceExcerpt
  /// Whether the whole file was parsed; if not, a required setting is not reported as missing.
  private var isFileRead = true

  init(_ sources: SettingsSources) {
    self.sources = sources
    settings = Settings(folder: sources.folder)
    excerpt = SourceExcerpt(sources.file?.text ?? "")
  }

  mutating func readFile() {
    guard let file = sources.file else { return }
    let document = SettingsDocument(parsing: file.text, name: file.name)
    faults += document.faults
    isFileRead = document.faults.isEmpty
    if document.yamlFault != nil { excerpt.allowNames(of: SettingTable.memberNames) }
    read(document.entries, under: [])
  }

  /// Reads the environment. An empty variable counts as not set: compose files and charts pass unset
  /// values so.
  mutating func readEnvironment() {
    for (variable, text) in sources.environment.sorted(by: { $0.key < $1.key })
    where variable.hasPrefix(EnvironmentNames.prefix) && !EnvironmentNames.isForeign(variable) {
      let place = SettingPlace.environment(variable: variable)
      if let path = EnvironmentNames.paths[variable] ?? EnvironmentNames.switches[variable] {
        if !text.isEmpty { read(text, for: path, at: place) }
      } else {
        let suggestion = EnvironmentNames.suggestion(for: variable)
        faults.append(SettingsFault(place, "unknown variable\(Self.didYouMean(suggestion))"))
      }
    }
  }

  mutating func readFlags() {
    for (index, flag) in sources.flags.enumerated() {
      let place = SettingPlace.flag(spelling: flag.spelling, index: index)
      let path = flag.setting.split(separator: ".").map(String.init)
      if path.isEmpty {
        refuseUnknown(path, at: place)
      } else {
        read(flag.value, for: path, at: place)
      }
    }
  }

  mutating func check(required: [String]) {
    let checks = SettingsChecks(settings: settings, places: places)
    faults += checks.faults()
    notes += checks.notes()
    guard isFileRead else { return }
    let name = sources.file?.name ?? SettingsSources.defaultFileName
    for setting in required.flatMap(ofEachUpstream) where places[setting] == nil {
      let path = setting.split(separator: ".")
      let section = path.first == "upstreams" ? Array(path.prefix(1)) : path
      let variable = EnvironmentNames.variable(for: section)
      let reason =
        sources.file == nil
        ? "there is no such file, and `\(setting)` is not set; `larder init URL` writes it for an API, "
          + "or set \(variable)"
        : "`\(setting)` is not set; set it there or in \(variable)"
      faults.append(SettingsFault(.wholeFile(name: name), reason))
    }
  }

  /// A setting of `upstream` as the setting of each of several upstreams.
  private func ofEachUpstream(_ setting: String) -> [String] {
    guard !settings.upstreams.isEmpty, setting.hasPrefix("upstream.") else { return [setting] }
    return settings.allUpstreams.map { "\($0.section)\(setting.dropFirst("upstream".count))" }
  }

  func finish() throws(SettingsFaults) -> LoadedSettings {
    guard faults.isEmpty else {
      throw SettingsFaults(Array(Set(faults)), shownIn: excerpt)
    }
    return LoadedSettings(
      settings: guarded(settings.withoutDependents()), notes: notes.sorted { $0.place < $1.place },
      places: places,
      excerpt: excerpt)
  }

  /// Applies the safe defaults of a service with its own credentials: stored data was fetched with
  /// them, and every user who signs up can read it, so by default the operator admits users and
  /// devices.
  private func guarded(_ settings: Settings) -> Settings {
    guard settings.hasServiceCredentials else { return settings }
    var settings = settings
    if places["accounts.signUp"] == nil { settings.accounts.signUp = .admin }
    if places["devices.register"] == nil {
      settings.devices.register = settings.hasUsers ? .user : .admin
    }
    return settings
  }

  /// Reads text from outside the file as if it were written there under its sections. For an open
  /// section the text is YAML: `{X-Client: larder}`.
  private mutating func read(_ text: String, for path: [String], at place: SettingPlace) {
    var value = RawValue(form: .text(text), place: place)
    if SettingTable.memberForm(under: path) != nil {
      let document = SettingsDocument(parsing: text, name: place.description)
      guard document.faults.isEmpty else {
        let reason = document.yamlFault.map { "; \($0.inText)" } ?? ""
        faults.append(
          SettingsFault(
            place, "`\(Self.name(path))` must be a section such as {name: value}\(reason)"))
        return
      }
      value = RawValue(form: .map(document.entries), place: place).moved(to: place)
    }
    for name in path.reversed() {
      value = RawValue(form: .map([RawEntry(name: name, place: place, value: value)]), place: place)
    }
    if case .map(let entries) = value.form { read(entries, under: []) }
  }

  private mutating func read(_ entries: [RawEntry], under path: [String]) {
    var seen: Set<String> = []
    for entry in entries {
      excerpt.allow(entry.name, at: entry.place)
      guard let name = name(of: entry, under: path) else { continue }
      if seen.insert(name).inserted {
        read(entry, as: path + [name])
      } else {
        faults.append(
          SettingsFault(entry.place, "`\(Self.name(path + [name]))` is written twice"))
      }
    }
  }

  private mutating func read(_ entry: RawEntry, as path: [String]) {
    // An upstream exists also without any setting under its name.
    if path.count == 2, path[0] == SettingTable.upstreams.name {
      var upstream = settings.upstreams[path[1]] ?? UpstreamSettings()
      upstream.place = upstream.place ?? entry.place
      settings.upstreams[path[1]] = upstream
    }
    switch (SettingTable.match(path), entry.value.form) {
    case (.unknown, _): refuseUnknown(path, at: entry.place)
    case (_, .empty): break
    case (.key(let key), .map(let entries)) where SettingTable.hasSettings(under: path):
      // Its own value is named `path` if there are settings under it.
      let own = entries.filter { $0.name == SettingTable.ownMember }
      for entry in own { assign(entry.value, to: key, path: path) }
      if own.count > 1 {
        faults.append(
          SettingsFault(
            own[1].place, "`\(Self.name(path)).\(SettingTable.ownMember)` is written twice"))
      }
      read(entries.filter { $0.name != SettingTable.ownMember }, under: path)
    case (.key(let key), _): assign(entry.value, to: key, path: path)
    case (.section, .map(let entries)): read(entries, under: path)
    case (.section, .text(let text))
    where SettingTable.hasSwitch(path) && SettingKey.switchWords.contains(text):
      let own = RawEntry(
        name: SettingKey.switchMember, place: entry.value.place, value: entry.value)
      read(own, as: path + [SettingKey.switchMember])
    case (.section, .text), (.section, .list):
      faults.append(
        SettingsFault(
          entry.value.place,
          "`\(Self.name(path))` is a section; write its settings under it"
            + (SettingTable.hasSwitch(path) ? ", or switch it `off`" : "")))
    }
  }

  /// The normalised name, for example of a header field in lower case; nil after a fault.
  private mutating func name(of entry: RawEntry, under path: [String]) -> String? {
    guard let form = SettingTable.memberForm(under: path) else { return entry.name }
    do throws(ValueRefusal) {
      return try form.parse(entry.name, sources.folder)
    } catch {
      let reason = error.reason.map { "; \($0)" } ?? ""
      faults.append(
        SettingsFault(
          entry.place,
          "a name under `\(Self.name(path))` must be \(form.noun), not `\(entry.name)`\(reason)"))
      return nil
    }
  }

  private mutating func assign(_ raw: RawValue, to key: SettingKey, path: [String]) {
    let name = Self.name(path)
    let members = zip(path, key.components).filter { $1.hasPrefix("<") }.map(\.0)
    var reader = ValueReader(name: name, folder: sources.folder, isSecret: key.isSecret)
    key.assign(raw, members, &reader, &settings)
    faults += reader.faults
    if !key.isSecret, !reader.hidesValue { excerpt.allow(raw) }
    places[name] = raw.place
  }

  private mutating func refuseUnknown(_ path: [String], at place: SettingPlace) {
    let name = Self.name(path)
    if let last = path.last, case let parts = last.split(separator: "."), parts.count > 1,
      case .key = SettingTable.match(path.dropLast() + parts.map(String.init))
    {
      let section = Self.name(path.dropLast() + parts.dropLast().map(String.init))
      faults.append(
        SettingsFault(place, "write `\(name)` as `\(parts.last ?? "")` under `\(section)`"))
    } else {
      let suggestion = SettingTable.suggestion(for: path).map { "`\($0)`" }
      faults.append(
        SettingsFault(place, "unknown setting `\(name)`\(Self.didYouMean(suggestion))"))
    }
  }

  private static func name(_ path: [String]) -> String { path.joined(separator: ".") }

  private static func didYouMean(_ suggestion: String?) -> String {
    suggestion.map { "; did you mean \($0)?" } ?? ""
  }
}
