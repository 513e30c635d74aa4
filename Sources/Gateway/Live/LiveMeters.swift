import Metrics
import Synchronization

/// Counters of followed lists.
package struct LiveMeters: ~Copyable {
  private let whole = Counter(label: "larder.list.reads", dimensions: [("kind", "whole")])
  private let rows = Counter(label: "larder.list.reads", dimensions: [("kind", "rows")])
  private let none = Counter(label: "larder.list.reads", dimensions: [("kind", "none")])
  private let wholeCount = Atomic(0)
  private let rowsCount = Atomic(0)
  private let noneCount = Atomic(0)

  /// Numbers of reads.
  package struct Reads: Equatable, Sendable {
    package let whole: Int
    package let rows: Int
    /// Changes of entities that the list does not show.
    package let none: Int
  }

  /// The numbers of reads so far.
  var reads: Reads {
    Reads(
      whole: wholeCount.load(ordering: .relaxed), rows: rowsCount.load(ordering: .relaxed),
      none: noneCount.load(ordering: .relaxed))
  }

  func noteWhole() {
    whole.increment()
    wholeCount.wrappingAdd(1, ordering: .relaxed)
  }

  func noteRows() {
    rows.increment()
    rowsCount.wrappingAdd(1, ordering: .relaxed)
  }

  func noteNone() {
    none.increment()
    noneCount.wrappingAdd(1, ordering: .relaxed)
  }
}
