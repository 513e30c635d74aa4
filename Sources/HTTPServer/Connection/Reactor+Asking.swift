import Transport

extension Reactor {
  /// Runs a closure on the loop.
  func ask<Answer: Sendable>(_ question: @Sendable (isolated Reactor) -> Answer) -> Answer {
    question(self)
  }
}
