import Synchronization

/// A number that handlers add to and tests read.
final class Count: Sendable {
  private let number = Atomic<Int>(0)

  var value: Int { number.load(ordering: .relaxed) }

  func add(_ amount: Int = 1) { number.wrappingAdd(amount, ordering: .relaxed) }
}
