import Glibc
import Synchronization

/// Descriptors kept back to accept, and refuse, connections when no other is left: these would
/// otherwise stay in the queue, and their clients would wait for nothing.
///
/// The loops of a group share them. What one gives up another thread may be quicker to take, for a
/// file or a connection, and then there is one less until a descriptor is closed somewhere: no loop
/// may be left without any by that.
final class SpareDescriptors: Sendable {
  private struct State {
    var held: [Int32] = []
    /// Those that connections which are being refused have in place of a spare one.
    var lentCount = 0
  }

  private let count: Int
  private let state = Mutex(State())

  init(count: Int) {
    self.count = count
  }

  deinit {
    state.withLock { for descriptor in $0.held { close(descriptor) } }
  }

  /// Opens them, unless that has been done.
  func prepare() {
    state.withLock { refill(&$0) }
  }

  /// Gives one up for what `accept` takes, until ``takeBack()``. Returns nil if there is none, or
  /// nothing was taken.
  func lend<Taken: Sendable>(_ accept: () -> Taken?) -> Taken? {
    state.withLock { state in
      refill(&state)
      guard let spare = state.held.popLast() else { return nil }
      close(spare)
      let taken = accept()
      if taken != nil { state.lentCount += 1 }
      refill(&state)
      return taken
    }
  }

  /// What was taken is closed.
  func takeBack() {
    state.withLock { state in
      state.lentCount -= 1
      refill(&state)
    }
  }

  /// Runs what takes descriptors while none is given up for another loop.
  func whileNoneIsLent<Taken: Sendable>(_ body: () throws(SystemError) -> Taken) throws(SystemError)
    -> Taken
  {
    let result = state.withLock { _ in
      Result { () throws(SystemError) -> Taken in try body() }
    }
    return try result.get()
  }

  private func refill(_ state: inout State) {
    while state.held.count + state.lentCount < count {
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { return }
      state.held.append(descriptor)
    }
  }
}
