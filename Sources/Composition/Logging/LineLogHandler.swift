import FoundationEssentials
package import Gateway
package import HTTPServer
package import Logging

/// Writes each log event as one line to standard error.
package struct LineLogHandler: LogHandler {
  package var metadata: Logger.Metadata = [:]
  private let threshold: LogThreshold
  /// Where somebody set one for this logger alone.
  private var ownLevel: Logger.Level?
  private let label: String
  private let isJSON: Bool
  private let write: @Sendable (String) -> Void

  init(
    label: String, threshold: LogThreshold, isJSON: Bool,
    write: @escaping @Sendable (String) -> Void
  ) {
    self.label = label
    self.threshold = threshold
    self.isJSON = isJSON
    self.write = write
  }

  package var logLevel: Logger.Level {
    get { ownLevel ?? threshold.level }
    set { ownLevel = newValue }
  }

  package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  static func now() -> String {
    Date().formatted(
      .iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(
        separator: .omitted))
  }

  package func log(event: LogEvent) {
    let merged = metadata.merging(event.metadata ?? [:]) { _, new in new }
    let line = LogLine(
      time: Self.now(), level: event.level, label: label, message: "\(event.message)",
      metadata: merged.map { ($0.key, "\($0.value)") }.sorted { $0.0 < $1.0 })
    write(isJSON ? line.json : line.text)
  }
}

/// Makes the process's loggers as settings ask.
package enum ProcessLogging {
  /// What writes all of the process's lines to standard error, so that no caller waits for it.
  package static func sink(settings: LogSettings) -> LineSink {
    let isJSON = settings.format == .json
    return LineSink(
      lostLine: { count in
        let line = LogLine(
          time: LineLogHandler.now(), level: .warning, label: "larder",
          message: "log lines were lost: standard error was not read",
          metadata: [("count", "\(count)")])
        return Array(((isJSON ? line.json : line.text) + "\n").utf8)
      }, write: { StandardStreams.error($0) })
  }

  package static func logger(
    _ label: String, settings: LogSettings, threshold: LogThreshold,
    write: @escaping @Sendable (String) -> Void = { StandardStreams.error($0) }
  ) -> Logger {
    Logger(label: label) {
      LineLogHandler(
        label: $0, threshold: threshold, isJSON: settings.format == .json, write: write)
    }
  }
}

extension LogThreshold {
  package convenience init(_ settings: LogSettings) {
    self.init(Logger.Level(rawValue: settings.level.rawValue) ?? .info)
  }
}
