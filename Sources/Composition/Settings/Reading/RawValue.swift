/// A value as its source spells it, before anyone knows what type it should have.
struct RawValue {
  enum Form {
    /// Written with nothing after its name: counts as not written.
    case empty
    case text(String)
    case list([RawValue])
    case map([RawEntry])
  }

  let form: Form
  let place: SettingPlace

  /// For messages: what stands there instead of what was asked for.
  var shape: String {
    switch form {
    case .empty: "nothing"
    case .text(let text): Self.quoted(text)
    case .list: "a list"
    case .map: "a section"
    }
  }

  /// The same value as if it stood elsewhere: what a variable holds is placed at the variable.
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

  /// Longest part of a value that a message repeats.
  private static let shownScalarsMax = 60

  private static func quoted(_ text: String) -> String {
    let scalars = text.unicodeScalars.prefix(shownScalarsMax)
    let shown = scalars.map { $0.properties.generalCategory == .control ? "\u{FFFD}" : String($0) }
    let isWhole = scalars.endIndex == text.unicodeScalars.endIndex
    return "\"\(shown.joined())\(isWhole ? "" : "…")\""
  }
}

/// One line of a section: a name and what stands after it.
struct RawEntry {
  let name: String
  let place: SettingPlace
  let value: RawValue
}
