/// The clock as a parameter: the composition gives the system's, tests give their own.
package struct WallClock: Sendable {
  private let read: @Sendable () -> Timestamp

  package init(_ read: @escaping @Sendable () -> Timestamp) {
    self.read = read
  }

  package func now() -> Timestamp { read() }
}
