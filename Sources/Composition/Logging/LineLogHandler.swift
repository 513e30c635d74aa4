import FoundationEssentials
package import Gateway
package import HTTPServer
package import Logging
import LosslessJSON

/// Writes each log event as one line to standard error.
struct LineLogHandler: LogHandler {
  var metadata: Logger.Metadata = [:]
  private let threshold: LogThreshold
  /// The level set for this logger only, if any.
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

  var logLevel: Logger.Level {
    get { ownLevel ?? threshold.level }
    set { ownLevel = newValue }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  static func now() -> String {
    Date().formatted(
      .iso8601.year().month().day().time(includingFractionalSeconds: true).timeZone(
        separator: .omitted))
  }

  func log(event: LogEvent) {
    let merged = metadata.merging(event.metadata ?? [:]) { _, new in new }
    let line = LogLine(
      time: Self.now(), level: event.level, label: label, message: "\(event.message)",
      metadata: merged.map { ($0.key, LogLine.Value($0.value)) }.sorted { $0.0 < $1.0 })
    write(isJSON ? line.json : line.text)
  }
}

/// Makes the process's loggers from settings.
package enum ProcessLogging {
  /// The sink that writes all lines of the process to standard error, so that no caller waits for it.
  ///
  /// - Parameter ring: keeps the latest lines for operators; nil for none.
  package static func sink(settings: LogSettings, ring: LogRing? = nil) -> LineSink {
    let isJSON = settings.format == .json
    var observe: (@Sendable ([UInt8]) -> Void)?
    if let ring { observe = { ring.take($0) } }
    return LineSink(
      lostLine: { count in
        let line = LogLine(
          time: LineLogHandler.now(), level: .warning, label: "larder",
          message: "log lines were lost because standard error was not read",
          metadata: [("count", .number(count))])
        return Array(((isJSON ? line.json : line.text) + "\n").utf8)
      }, observe: observe, write: { StandardStreams.error($0) })
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

/// One log line, as text or JSON.
struct LogLine {
  let time: String
  let level: Logger.Level
  let label: String
  let message: String
  /// Sorted by name.
  let metadata: [(String, Value)]

  /// A value that is given as a number (`.stringConvertible(count)`) is one in JSON too.
  enum Value {
    case text(String)
    case number(Int)

    init(_ value: Logger.MetadataValue) {
      guard case .stringConvertible(let given) = value, let number = given as? Int else {
        self = .text("\(value)")
        return
      }
      self = .number(number)
    }

    fileprivate var text: String {
      switch self {
      case .text(let text): text
      case .number(let number): "\(number)"
      }
    }
  }

  /// `2026-01-02T03:04:05.678Z info larder.server: message name=value`, on one line.
  var text: String {
    let pairs = metadata.map { " \($0.0)=\(Self.quoted($0.1.text))" }.joined()
    return "\(time) \(level.rawValue) \(label): \(Self.oneLine(message))\(pairs)"
  }

  /// The same as a JSON object.
  var json: String {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, value) in [
      ("time", time), ("level", level.rawValue), ("logger", label), ("message", message),
    ] {
      writer.name(name)
      writer.string(value)
    }
    for (name, value) in metadata {
      writer.name(name)
      switch value {
      case .text(let text): writer.string(text)
      case .number(let number): writer.number(JSONNumber(number))
      }
    }
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  private static func quoted(_ value: String) -> String {
    let isPlain = !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x7F }
    return isPlain ? value : JSONValue.string(value).text
  }

  /// A line break in a message must not forge a second line.
  private static func oneLine(_ message: String) -> String {
    message.utf8.contains { $0 < 0x20 } ? JSONValue.string(message).text : message
  }
}
