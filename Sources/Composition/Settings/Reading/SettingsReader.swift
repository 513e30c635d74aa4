/// One pass over all sources of settings. Values go into ``settings`` as they are read; whatever is
/// wrong is kept and the reading goes on.
struct SettingsReader {
  private let sources: SettingsSources
  private var settings: Settings
  private var places: [String: SettingPlace] = [:]
  private var faults: [SettingsFault] = []
  private var notes: [SettingsNote] = []
  private var excerpt: SourceExcerpt
  /// What is missing says nothing where the file could not be read to its end.
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
    read(document.entries, under: [])
  }

  /// An empty variable counts as not set: that is how compose files and charts pass what nobody
  /// filled in.
  mutating func readEnvironment() {
    for (variable, text) in sources.environment.sorted(by: { $0.key < $1.key })
    where variable.hasPrefix(EnvironmentNames.prefix) && !EnvironmentNames.isForeign(variable) {
      let place = SettingPlace.environment(variable: variable)
      if let path = EnvironmentNames.paths[variable] {
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
    for setting in required where places[setting] == nil {
      let variable = EnvironmentNames.variable(for: setting.split(separator: "."))
      faults.append(
        SettingsFault(
          .wholeFile(name: name), "`\(setting)` is not set; write it there or into \(variable)"))
    }
  }

  func finish() throws(SettingsFaults) -> LoadedSettings {
    guard faults.isEmpty else {
      throw SettingsFaults(
        Set(faults).map { fault in
          SettingsFault(fault.place, fault.message, excerpt: excerpt.show(fault.place))
        })
    }
    return LoadedSettings(
      settings: guarded(settings), notes: notes.sorted { $0.place < $1.place }, places: places)
  }

  /// What is stored was fetched with the service's own credentials, and whoever signs up may read it:
  /// without a word in settings the operator decides who that is.
  private func guarded(_ settings: Settings) -> Settings {
    guard settings.upstream.hasServiceCredentials else { return settings }
    var settings = settings
    if places["accounts.signUp"] == nil { settings.accounts.signUp = .admin }
    if places["devices.register"] == nil { settings.devices.register = .user }
    return settings
  }

  /// Text from outside the file, as if it stood there under its sections. For an open section it
  /// is YAML: `{X-Client: larder}`.
  private mutating func read(_ text: String, for path: [String], at place: SettingPlace) {
    var value = RawValue(form: .text(text), place: place)
    if SettingTable.memberForm(under: path) != nil {
      let document = SettingsDocument(parsing: text, name: place.description)
      guard document.faults.isEmpty else {
        faults.append(
          SettingsFault(place, "`\(Self.name(path))` must be a section such as {name: value}"))
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
    switch (SettingTable.match(path), entry.value.form) {
    case (.unknown, _): refuseUnknown(path, at: entry.place)
    case (_, .empty): break
    case (.key(let key), .map(let entries)) where SettingTable.hasSettings(under: path):
      // Its own value is called `path` where other settings stand beside it.
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
    case (.section, .text), (.section, .list):
      faults.append(
        SettingsFault(
          entry.value.place, "`\(Self.name(path))` is a section: its settings stand under it"))
    }
  }

  /// A name as later code knows it: field names, for one, in lower case.
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
    let member = zip(path, key.components).first { $1.hasPrefix("<") }?.0 ?? ""
    var reader = ValueReader(name: name, folder: sources.folder, isSecret: key.isSecret)
    key.assign(raw, member, &reader, &settings)
    faults += reader.faults
    if !key.isSecret, !reader.hidesValue { excerpt.allow(raw) }
    places[name] = raw.place
    if !key.isInUse {
      notes.append(
        SettingsNote(place: raw.place, message: "`\(name)` is accepted, not used by this version"))
    }
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
