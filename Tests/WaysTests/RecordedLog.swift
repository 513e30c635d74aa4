import Logging
import Synchronization

/// What a service wrote to its log.
final class RecordedLog: Sendable {
  private struct Handler: LogHandler {
    let log: RecordedLog
    var logLevel = Logger.Level.trace
    var metadata: Logger.Metadata = [:]

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let data = metadata.merging(event.metadata ?? [:]) { $1 }
      log.recorded.withLock { $0.append("\(event.message) \(data)") }
    }
  }

  private let recorded = Mutex<[String]>([])

  /// Each with its metadata.
  var lines: [String] { recorded.withLock { $0 } }

  var logger: Logger { Logger(label: "ways") { _ in Handler(log: self) } }
}
