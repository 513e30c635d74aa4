/// The work that one step may still do, in microseconds of the writer as measured, rounded up.
///
/// Counted rather than timed: a step does the same on every run, and this module reads no clock.
struct EvictionWork {
  /// A step delays other writes by no more than this, in all but odd cases: a row of megabytes is
  /// read whole.
  static let stepMicroseconds = 4_000

  /// Looking at a row without its contents.
  static let look = 1
  /// Reading a row or finding one by its key.
  static let read = 4
  /// Removing a row with what belongs to it, or changing one.
  static let remove = 25
  /// Bytes of JSON parsed in a microsecond.
  static let bytesParsed = 400

  private(set) var left: Int

  init(left: Int = stepMicroseconds) {
    self.left = left
  }

  var isSpent: Bool { left <= 0 }

  mutating func spend(_ microseconds: Int) { left -= microseconds }
}
