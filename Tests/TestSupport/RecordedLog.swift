package import Logging
import Synchronization

/// The log as an operator would read it, at the most verbose level.
package final class RecordedLog: Sendable {
  package struct Line: Sendable {
    package let level: Logger.Level
    package let message: String
    /// The logger's metadata and the line's own.
    package let metadata: Logger.Metadata

    package var text: String { "\(level) \(message) \(metadata)" }
  }

  private struct Handler: LogHandler {
    let log: RecordedLog
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let line = Line(
        level: event.level, message: "\(event.message)",
        metadata: metadata.merging(event.metadata ?? [:]) { $1 })
      log.recorded.withLock { $0.append(line) }
    }
  }

  private let recorded = Mutex<[Line]>([])

  package init() {}

  package var lines: [Line] { recorded.withLock { $0 } }

  package var logger: Logger { Logger(label: "tests") { _ in Handler(log: self) } }
}
