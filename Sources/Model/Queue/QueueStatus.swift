package import LosslessJSON

/// A queue as its client is told of it.
package struct QueueStatus: Hashable, Sendable {
  /// Those that go by themselves, waiting or in flight.
  package let pending: Int
  package let parked: Int
  package let state: QueueState

  package init(pending: Int, parked: Int, state: QueueState) {
    self.pending = pending
    self.parked = parked
    self.state = state
  }

  /// `{"pending","parked","state"}`.
  package var json: JSONValue {
    [
      "pending": .number(JSONNumber(pending)), "parked": .number(JSONNumber(parked)),
      "state": .string(state.rawValue),
    ]
  }
}
