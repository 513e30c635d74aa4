/// What is logged, and how a line looks.
package struct LogSettings: Sendable {
  /// The levels of swift-log, by its names.
  package enum Level: String, CaseIterable, Sendable {
    case trace
    case debug
    case info
    case notice
    case warning
    case error
    case critical
  }

  package enum Format: String, CaseIterable, Sendable {
    case text
    case json
  }

  package var level = Level.info
  package var format = Format.text
}
