import Logging
import LosslessJSON

/// One log line, as people or machines read it.
struct LogLine {
  let time: String
  let level: Logger.Level
  let label: String
  let message: String
  /// Sorted by name.
  let metadata: [(String, String)]

  /// `2026-01-02T03:04:05.678Z info larder.server: message name=value`, on one line.
  var text: String {
    let pairs = metadata.map { " \($0.0)=\(Self.quoted($0.1))" }.joined()
    return "\(time) \(level.rawValue) \(label): \(Self.oneLine(message))\(pairs)"
  }

  /// The same as a JSON object.
  var json: String {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, value) in [
      ("time", time), ("level", level.rawValue), ("logger", label), ("message", message),
    ] + metadata {
      writer.name(name)
      writer.string(value)
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
