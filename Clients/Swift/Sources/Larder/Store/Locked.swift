import Foundation

/// A value behind a lock, for critical sections without suspension. `Synchronization.Mutex` needs iOS 18.
// SAFETY: `value` is only used while `lock` is held, and the body cannot keep a reference to it.
package final class Locked<Value>: @unchecked Sendable {
  private let lock = NSLock()
  private var value: Value

  package init(_ value: sending Value) {
    self.value = value
  }

  package func withLock<Result>(_ body: (inout Value) throws -> sending Result) rethrows
    -> sending Result
  {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
