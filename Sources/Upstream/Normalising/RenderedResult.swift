/// A body made from the store.
package struct RenderedResult: Sendable {
  /// `{"data":…}`, compact UTF-8; of no use while ``misses`` is not empty.
  package let body: [UInt8]
  /// Response paths (`film.director.name`) that the store knows nothing of: the result does not
  /// cover the operation and must be fetched.
  package let misses: [String]
  /// How many response positions hold last-good values in place of what upstream failed to give.
  package let stalePositions: Int
  /// How many response positions an overlay leads to of which the store knows nothing.
  package let pendingGaps: Int

  /// Something in the body is a value: it is not made of nulls that errors explain alone.
  package let hasValues: Bool

  package init(
    body: [UInt8], misses: [String], stalePositions: Int, pendingGaps: Int = 0,
    hasValues: Bool = true
  ) {
    self.body = body
    self.misses = misses
    self.stalePositions = stalePositions
    self.pendingGaps = pendingGaps
    self.hasValues = hasValues
  }

  package var isComplete: Bool { misses.isEmpty }
}
