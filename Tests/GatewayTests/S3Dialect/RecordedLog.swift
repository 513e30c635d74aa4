import Logging
import Synchronization

/// What an operator would read in the log, at its fullest.
final class RecordedLog: Sendable {
  struct Line: Sendable {
    let level: Logger.Level
    let metadata: Logger.Metadata
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
      let line = Line(level: event.level, metadata: event.metadata ?? [:])
      log.recorded.withLock { $0.append(line) }
    }
  }

  private let recorded = Mutex<[Line]>([])

  var lines: [Line] { recorded.withLock { $0 } }

  var logger: Logger { Logger(label: "tests") { _ in Handler(log: self) } }
}
