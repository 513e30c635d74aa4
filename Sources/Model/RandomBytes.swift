/// A source of unguessable bytes as a parameter: the composition passes the system's, tests pass
/// their own.
package struct RandomBytes: Sendable {
  private let next: @Sendable () -> UInt8

  package init(_ next: @escaping @Sendable () -> UInt8) {
    self.next = next
  }

  package func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in next() }
  }
}
