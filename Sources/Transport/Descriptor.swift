import CLinux
import Glibc
import Synchronization

/// A file descriptor that closes with its last reference.
package final class Descriptor: Sendable {
  package let number: Int32

  /// Takes over the result of `call`, which is -1 when it failed.
  init(owning number: Int32, from call: StaticString) throws(SystemError) {
    guard number >= 0 else { throw SystemError(call) }
    self.number = number
  }

  deinit {
    close(number)
  }
}

extension Descriptor {
  /// Adds `descriptor` to this epoll set.
  func watch(
    _ descriptor: Int32, as token: SlotToken, events: UInt32
  ) throws(SystemError) {
    var event = epoll_event(events: events, data: epoll_data(u64: token.bits))
    guard epoll_ctl(number, EPOLL_CTL_ADD, descriptor, &event) == 0 else {
      throw SystemError("epoll_ctl")
    }
  }
}

/// How many descriptors this process may have open.
package enum DescriptorLimit {
  /// Raises the limit as far as the system lets this user. Returns what holds then.
  ///
  /// The soft limit is often 1024 for the sake of `select`, which nothing here uses.
  package static func raise() -> Int {
    let resource = __rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue))
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0 else { return 1024 }
    if limit.rlim_cur < limit.rlim_max {
      var raised = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
      if setrlimit(resource, &raised) == 0 { limit = raised }
    }
    return Int(clamping: limit.rlim_cur)
  }
}

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
