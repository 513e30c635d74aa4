import FoundationEssentials
package import Logging

/// Writes each log event as one line to standard error.
package struct LineLogHandler: LogHandler {
  package var metadata: Logger.Metadata = [:]
  package var logLevel: Logger.Level
  private let label: String
  private let isJSON: Bool
  private let write: @Sendable (String) -> Void

  init(
    label: String, level: Logger.Level, isJSON: Bool,
    write: @escaping @Sendable (String) -> Void
  ) {
    self.label = label
    logLevel = level
    self.isJSON = isJSON
    self.write = write
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  package func log(event: LogEvent) {
    let merged = metadata.merging(event.metadata ?? [:]) { _, new in new }
    let line = LogLine(
      time: Date().formatted(
        .iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(
          separator: .omitted)),
      level: event.level, label: label, message: "\(event.message)",
      metadata: merged.map { ($0.key, "\($0.value)") }.sorted { $0.0 < $1.0 })
    write(isJSON ? line.json : line.text)
  }
}

/// Makes the process's loggers as settings ask.
package enum ProcessLogging {
  package static func logger(
    _ label: String, settings: LogSettings,
    write: @escaping @Sendable (String) -> Void = { StandardStreams.error($0) }
  ) -> Logger {
    let level = Logger.Level(rawValue: settings.level.rawValue) ?? .info
    return Logger(label: label) {
      LineLogHandler(label: $0, level: level, isJSON: settings.format == .json, write: write)
    }
  }
}
