/// Bounds on what a document may cost its reader.
package struct JSONLimits: Sendable, Hashable {
  /// Containers open at once in what comes from outside: clients nest less than this, and a reader
  /// that names no limits is safe for what a stranger sends.
  package static let depthDefault = 128
  /// Containers open at once in anything. The bound keeps recursive readers of the tape far from
  /// the end of their stack; upstream's responses and what is stored of them may use all of it.
  package static let depthCeiling = 1024
  /// Values of one text, names of members among them. Each takes far more memory and time than the
  /// byte or two that it can be written in.
  package static let valuesDefault = 200_000
  /// Text length. An answer larger than this is a mistake in the operation rather than data.
  package static let bytesDefault = 64 << 20
  /// Offsets on the tape are 32 bits wide.
  static let bytesCeiling = Int(UInt32.max) - 8
  /// For text that was checked when it came in: see ``JSONDocument/init(checked:)``.
  static let ofCheckedText = JSONLimits(depthMax: depthCeiling, valuesMax: .max)

  package var depthMax: Int
  package var bytesMax: Int
  package var valuesMax: Int

  package init(
    depthMax: Int = depthDefault, bytesMax: Int = bytesDefault, valuesMax: Int = valuesDefault
  ) {
    self.valuesMax = valuesMax
    self.depthMax = min(depthMax, Self.depthCeiling)
    self.bytesMax = min(bytesMax, Self.bytesCeiling)
  }
}
