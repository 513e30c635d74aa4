/// How much of a message head is taken before it is refused.
package struct HeadLimits: Sendable, Equatable {
  /// Bytes of the start line. RFC 9112 3 asks for at least 8000.
  package var startLineBytesMax: Int
  /// Bytes of a method. Longer than any registered one.
  package var methodBytesMax: Int
  /// Bytes of the whole head, empty lines before it included.
  package var headBytesMax: Int
  /// Bytes of one field line.
  package var fieldBytesMax: Int
  /// Field lines.
  package var fieldsMax: Int
  /// Empty lines skipped before the start line.
  package var leadingLinesMax: Int

  package init(
    startLineBytesMax: Int = 8192, methodBytesMax: Int = 32, headBytesMax: Int = 32 * 1024,
    fieldBytesMax: Int = 16 * 1024, fieldsMax: Int = 100, leadingLinesMax: Int = 4
  ) {
    self.startLineBytesMax = startLineBytesMax
    self.methodBytesMax = methodBytesMax
    self.headBytesMax = headBytesMax
    self.fieldBytesMax = fieldBytesMax
    self.fieldsMax = fieldsMax
    self.leadingLinesMax = leadingLinesMax
  }

  /// What a server takes from a client.
  package static let request = HeadLimits()

  /// What a client takes from a server: more, since the peer is chosen, not anyone.
  package static let response = HeadLimits(
    headBytesMax: 64 * 1024, fieldBytesMax: 32 * 1024, fieldsMax: 256, leadingLinesMax: 0)
}
