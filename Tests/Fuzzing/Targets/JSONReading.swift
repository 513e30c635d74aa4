import LosslessJSON

/// A JSON text as Larder writes it after parsing.
enum JSONReading {
  /// - Returns: the text; empty for one that is refused.
  static func rewrite(_ bytes: [UInt8]) -> [UInt8] {
    (try? JSONValue(parsing: bytes))?.bytes ?? []
  }
}
