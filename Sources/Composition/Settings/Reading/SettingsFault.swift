/// A fault in the settings, with everything needed to fix it and no secret.
package struct SettingsFault: Hashable, Sendable, CustomStringConvertible {
  package let place: SettingPlace
  package let message: String
  /// The source line and a line with a caret under the place; nil outside a file.
  package var excerpt: String?

  init(_ place: SettingPlace, _ message: String, excerpt: String? = nil) {
    self.place = place
    self.message = message
    self.excerpt = excerpt
  }

  package var description: String {
    let line = "\(place): \(message)"
    return excerpt.map { "\(line)\n\($0)" } ?? line
  }
}

/// All faults of all sources, sorted by place; never empty. The caller shows them and stops: the
/// service is not started with part of its settings.
package struct SettingsFaults: Error, CustomStringConvertible {
  package let faults: [SettingsFault]

  init(_ faults: [SettingsFault]) {
    self.faults = faults.sorted { ($0.place, $0.message) < ($1.place, $1.message) }
  }

  /// - Parameter excerpt: the lines of the settings file.
  init(_ faults: [SettingsFault], shownIn excerpt: SourceExcerpt) {
    self.init(
      faults.map { SettingsFault($0.place, $0.message, excerpt: excerpt.show($0.place)) })
  }

  package var description: String {
    faults.map(\.description).joined(separator: "\n")
  }
}

/// A note on a valid setting that may not have the expected effect.
package struct SettingsNote: Hashable, Sendable, CustomStringConvertible {
  package let place: SettingPlace
  package let message: String

  package var description: String { "\(place): \(message)" }
}

/// The reason why text is not a valid value. The reader adds the setting's name, the expected form
/// and the place.
struct ValueRefusal: Error {
  /// A clause that follows "must be …"; nil if that is enough.
  let reason: String?
  /// Whether the text can contain a secret that does not belong there, so that it is not repeated.
  let hidesValue: Bool

  init(_ reason: String? = nil, hidesValue: Bool = false) {
    self.reason = reason
    self.hidesValue = hidesValue
  }
}

/// The place where a setting was written. Faults are reported in this order.
package enum SettingPlace: Hashable, Sendable, CustomStringConvertible {
  /// 1-based; columns count Unicode scalars.
  case file(name: String, line: Int, column: Int)
  /// The file as a whole, including a missing one.
  case wholeFile(name: String)
  case environment(variable: String)
  /// `index` is the flag's position on the command line.
  case flag(spelling: String, index: Int)

  package var description: String {
    switch self {
    case .file(let name, let line, let column): "\(name):\(line):\(column)"
    case .wholeFile(let name): name
    case .environment(let variable): variable
    case .flag(let spelling, _): spelling
    }
  }
}

extension SettingPlace: Comparable {
  package static func < (left: SettingPlace, right: SettingPlace) -> Bool {
    switch (left, right) {
    case (.file(_, let line, let column), .file(_, let otherLine, let otherColumn)):
      (line, column) < (otherLine, otherColumn)
    case (.environment(let variable), .environment(let other)):
      variable < other
    case (.flag(_, let index), .flag(_, let other)):
      index < other
    default:
      left.rank < right.rank
    }
  }

  private var rank: Int {
    switch self {
    case .file: 0
    case .wholeFile: 1
    case .environment: 2
    case .flag: 3
    }
  }
}
