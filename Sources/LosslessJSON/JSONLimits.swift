/// Bounds on what a document may cost its reader.
package struct JSONLimits: Sendable, Hashable {
  /// Containers open at once. The bound keeps recursive readers of the tape far from the end of
  /// their stack; whoever reads what strangers send gives a lower one.
  package static let depthDefault = 1024
  /// What clients send nests less than anything upstream says.
  package static let ofClients = JSONLimits(depthMax: 128)
  /// Text length. An answer larger than this is a mistake in the operation rather than data.
  package static let bytesDefault = 64 << 20
  /// Offsets on the tape are 32 bits wide.
  static let bytesCeiling = Int(UInt32.max) - 8

  package var depthMax: Int
  package var bytesMax: Int

  package init(depthMax: Int = depthDefault, bytesMax: Int = bytesDefault) {
    self.depthMax = depthMax
    self.bytesMax = min(bytesMax, Self.bytesCeiling)
  }
}
