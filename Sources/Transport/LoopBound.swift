/// A value of one loop's region that code elsewhere may hold, but not touch.
///
/// It lets a Sendable object name state that lives on a loop: the value comes out only to code that
/// is isolated to the very reactor it was put in on.
package struct LoopBound<Value>: Sendable {
  package let reactor: Reactor
  // SAFETY: put in and taken out only in the isolation of `reactor`, which `get` checks.
  private nonisolated(unsafe) let value: Value

  package init(_ value: Value, on reactor: isolated Reactor) {
    self.value = value
    self.reactor = reactor
  }

  package func get(on reactor: isolated Reactor) -> Value {
    precondition(reactor === self.reactor, "a value of another loop")
    return value
  }
}
