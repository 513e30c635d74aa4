/// Where a batch stands. Its user ids stand there with it, but for its exceptions.
package enum BatchState: String, Hashable, Sendable, CaseIterable {
  case queued
  case inflight
  case sent
  /// The sender knows no device of any of its ids.
  case invalid
  case failed

  var isOpen: Bool { self == .queued || self == .inflight }
}
