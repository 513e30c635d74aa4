import GraphQL

/// A value as written in its source, before it has a type.
struct RawValue {
  enum Form {
    /// A name without a value: counts as not written.
    case empty
    case text(String)
    case list([RawValue])
    case map([RawEntry])
  }

  let form: Form
  let place: SettingPlace

  /// A description of the value for messages that expected something else.
  var shape: String {
    switch form {
    case .empty: "nothing"
    case .text(let text): Self.quoted(text)
    case .list: "a list"
    case .map: "a section"
    }
  }

  /// Returns the same value with another place: the value of a variable is placed at the variable.
  func moved(to place: SettingPlace) -> RawValue {
    let form: Form =
      switch form {
      case .empty, .text: form
      case .list(let items): .list(items.map { $0.moved(to: place) })
      case .map(let entries):
        .map(
          entries.map { RawEntry(name: $0.name, place: place, value: $0.value.moved(to: place)) })
      }
    return RawValue(form: form, place: place)
  }

  /// Maximum length of the part of a value that a message repeats, in Unicode scalars.
  private static let shownScalarsMax = 60

  private static func quoted(_ text: String) -> String {
    let scalars = text.unicodeScalars.prefix(shownScalarsMax)
    let shown = scalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : String($0) }
    let isWhole = scalars.endIndex == text.unicodeScalars.endIndex
    return "\"\(shown.joined())\(isWhole ? "" : "…")\""
  }
}

/// One entry of a section: a name and its value.
struct RawEntry {
  let name: String
  let place: SettingPlace
  let value: RawValue
}

/// Converts raw values of one setting to typed ones and collects faults.
struct ValueReader {
  /// The full name for messages, such as `types.Film.key`.
  let name: String
  /// The folder that relative paths start from.
  let folder: String
  let isSecret: Bool

  private(set) var faults: [SettingsFault] = []
  /// Whether a value contained a misplaced secret: then no message may show any text of this setting.
  private(set) var hidesValue = false

  init(name: String, folder: String, isSecret: Bool) {
    self.name = name
    self.folder = folder
    self.isSecret = isSecret
  }

  mutating func one<Value>(_ raw: RawValue, _ form: TextForm<Value>) -> Value? {
    read(raw, form, subject: "`\(name)`")
  }

  /// Reads a list. In a variable or flag its elements are separated by commas, in brackets or without; in a file a single
  /// element can be written without brackets.
  mutating func list<Element: Hashable>(
    _ raw: RawValue, _ form: TextForm<Element>, countMin: Int
  ) -> [Element]? {
    let items = elements(of: raw)
    guard items.count >= countMin else {
      refuse(raw, "`\(name)` needs at least \(countMin) element")
      return nil
    }
    var values: [Element] = []
    var seen: Set<Element> = []
    for item in items {
      guard let value = read(item, form, subject: "each element of `\(name)`") else { continue }
      if seen.insert(value).inserted {
        values.append(value)
      } else {
        refuse(item, "`\(name)` has \(isSecret ? "an element" : item.shape) twice")
      }
    }
    return faults.isEmpty ? values : nil
  }

  /// Returns a value that has parts as it would be written in a file: in a variable or flag it is YAML.
  ///
  /// - Parameter noun: what the value must be, such as `a list`.
  /// - Returns: nil after a fault.
  mutating func structured(_ raw: RawValue, _ noun: String) -> RawValue? {
    guard case .text(let text) = raw.form else { return raw }
    switch raw.place {
    case .file, .wholeFile: return raw
    case .environment, .flag: break
    }
    do throws(YAMLFault) {
      return try SettingsDocument.value(of: text, at: raw.place)
    } catch {
      refuse(raw, "`\(name)` must be \(noun), written as in the settings file; \(error.inText)")
      return nil
    }
  }

  /// Returns the elements of a list of sections; nil after a fault.
  mutating func sections(_ raw: RawValue) -> [RawValue]? {
    guard let value = structured(raw, "a list") else { return nil }
    switch value.form {
    case .list(let items): return items
    case .empty: return []
    case .text, .map:
      refuse(raw, "`\(name)` must be a list, not \(value.shape)")
      return nil
    }
  }

  /// Returns the values of a section's members by name. A name without a value counts as not written.
  ///
  /// - Parameters:
  ///   - noun: what the section is, such as `a hook`.
  ///   - example: a section as it can be written.
  /// - Returns: nil if it is not a section.
  mutating func members(
    of raw: RawValue, _ noun: String, required: [String], optional: [String], example: String
  ) -> [String: RawValue]? {
    guard case .map(let entries) = raw.form else {
      let shown = isSecret ? "" : ", not \(raw.shape)"
      refuse(raw, "in `\(name)`, \(noun) must be a section such as \(example)\(shown)")
      return nil
    }
    let names = required + optional
    var written: Set<String> = []
    var values: [String: RawValue] = [:]
    for entry in entries {
      let place = RawValue(form: .empty, place: entry.place)
      if !names.contains(entry.name) {
        let hint = NearestNames.didYouMean(entry.name, among: names)
        refuse(place, "\(noun) has no `\(entry.name)`.\(hint)")
      } else if !written.insert(entry.name).inserted {
        refuse(place, "`\(entry.name)` is written twice")
      } else if case .empty = entry.value.form {
        continue
      } else {
        values[entry.name] = entry.value
      }
    }
    for name in required where values[name] == nil {
      refuse(raw, "\(noun) needs `\(name)`")
    }
    return values
  }

  private func elements(of raw: RawValue) -> [RawValue] {
    switch (raw.form, raw.place) {
    case (.list(let items), _):
      items
    case (.text(let text), .environment), (.text(let text), .flag):
      inBrackets(text, raw.place)
        ?? text.split(separator: ",").map { part in
          RawValue(form: .text(part.trimmingBlanks), place: raw.place)
        }
    default:
      [raw]
    }
  }

  /// The elements of a list that is written as in the settings file; nil if the text is another one, such as the
  /// address `[::1]:8080`.
  private func inBrackets(_ text: String, _ place: SettingPlace) -> [RawValue]? {
    guard text.hasPrefix("["), text.hasSuffix("]") else { return nil }
    if let value = try? SettingsDocument.value(of: text, at: place),
      case .list(let items) = value.form
    {
      return items
    }
    // YAML takes no plain text that begins with a colon, as addresses do.
    return text.dropFirst().dropLast().split(separator: ",").map { part in
      let blank = part.trimmingBlanks
      let isQuoted =
        blank.count > 1 && blank.first == blank.last && (blank.first == "'" || blank.first == "\"")
      return RawValue(
        form: .text(isQuoted ? String(blank.dropFirst().dropLast()) : blank), place: place)
    }
  }

  private mutating func read<Value>(
    _ raw: RawValue, _ form: TextForm<Value>, subject: String
  ) -> Value? {
    guard case .text(let text) = raw.form else {
      refuse(raw, "\(subject) must be \(form.noun), not \(raw.shape)")
      return nil
    }
    do throws(ValueRefusal) {
      return try form.parse(text, folder)
    } catch {
      hidesValue = hidesValue || error.hidesValue
      let shown = isSecret || error.hidesValue ? "" : ", not \(raw.shape)"
      let reason = error.reason.map { "; \($0)" } ?? ""
      refuse(raw, "\(subject) must be \(form.noun)\(shown)\(reason)")
      return nil
    }
  }

  mutating func refuse(_ raw: RawValue, _ message: String) {
    faults.append(SettingsFault(raw.place, message))
  }
}

extension Substring {
  fileprivate var trimmingBlanks: String {
    var text = self
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return String(text)
  }
}
