import LosslessJSON
import Model

/// A difference between two versions of the REST interface.
package struct InterfaceChange: Hashable, Sendable {
  package enum Gravity: String, Hashable, Sendable {
    /// A client of the old version can fail.
    case breaking
    /// Worth knowing; a client that follows the rules goes on.
    case note
  }

  package let gravity: Gravity
  /// What it is about, such as `Film`, `GET /api/films/{id}` or `Film: data.film.title`.
  package let subject: String
  package let message: String

  init(_ gravity: Gravity, _ subject: String, _ message: String) {
    self.gravity = gravity
    self.subject = subject
    self.message = message
  }
}

extension InterfaceChange: CustomStringConvertible {
  package var description: String { "\(gravity.rawValue): \(subject): \(message)".onOneLine }
}

/// All differences between two versions.
package struct InterfaceChanges: Sendable {
  package private(set) var all: [InterfaceChange] = []
  private var seen: Set<InterfaceChange> = []

  package var isBreaking: Bool { all.contains { $0.gravity == .breaking } }

  mutating func add(_ gravity: InterfaceChange.Gravity, _ subject: String, _ message: String) {
    let change = InterfaceChange(gravity, subject, message)
    if seen.insert(change).inserted { all.append(change) }
  }

  /// The maximum number of differences of each gravity in a report.
  static let shownMax = 200

  /// A section of a report.
  ///
  /// - Parameter version: the name of the old version.
  func report(against version: String) -> String {
    var lines: [String] = []
    var counts: [String] = []
    for gravity in [InterfaceChange.Gravity.breaking, .note] {
      let own = all.filter { $0.gravity == gravity }
      lines += own.prefix(Self.shownMax).map(\.description)
      if own.count > Self.shownMax { lines.append("… and \(own.count - Self.shownMax) more") }
      counts.append(own.count.counted(gravity == .breaking ? "breaking change" : "other change"))
    }
    lines.append("Compared with \(version): \(counts.joined(separator: ", ")).")
    return lines.joined(separator: "\n")
  }

  /// All differences for programs.
  ///
  /// - Parameter version: the name of the old version.
  func document(against version: String) -> JSONValue {
    func count(_ gravity: InterfaceChange.Gravity) -> JSONValue {
      .number(JSONNumber(all.count { $0.gravity == gravity }))
    }
    return [
      "against": .string(version), "breaking": count(.breaking), "other": count(.note),
      "changes": .array(
        all.map { change in
          [
            "gravity": .string(change.gravity.rawValue), "subject": .string(change.subject),
            "message": .string(change.message),
          ]
        }),
    ]
  }
}
