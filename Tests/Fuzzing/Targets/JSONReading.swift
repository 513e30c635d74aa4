import LosslessJSON

/// A JSON text as Larder writes it after reading.
enum JSONReading {
  /// - Returns: empty for a text that is refused.
  static func rewrite(_ bytes: [UInt8]) -> [UInt8] {
    (try? JSONValue(parsing: bytes))?.bytes ?? []
  }
}
