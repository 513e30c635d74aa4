/// A receiver of the progress of long work, for a person who waits for it.
package struct WorkProgress: Sendable {
  private let receive: @Sendable (_ done: Int, _ total: Int) -> Void

  /// - Parameter receive: called from the thread that works, as often as the work goes on.
  package init(_ receive: @escaping @Sendable (_ done: Int, _ total: Int) -> Void) {
    self.receive = receive
  }

  package static let ignored = WorkProgress { _, _ in }

  package func report(_ done: Int, of total: Int) { receive(done, total) }
}
