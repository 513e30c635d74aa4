/// How much a bucket still takes.
package struct FileRoom: Hashable, Sendable {
  /// Nil for any number.
  package let bytes: Int?
  /// Which bound is the nearest.
  package let bound: FileQuotaKind
  /// How the bucket's objects are encrypted whose writers ask for nothing.
  package var encryption: String?
}
