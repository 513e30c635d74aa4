import CLinux
import Glibc
import Synchronization

/// A file descriptor that closes with its last reference.
final class Descriptor: Sendable {
  let number: Int32

  /// Takes ownership of the result of `call`, which is -1 if it failed.
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

/// The limit on this process's open descriptors.
package enum DescriptorLimit {
  /// Raises the limit as far as the system allows. Returns the resulting limit.
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

/// Reserved descriptors to accept and refuse connections when no other is left: these would otherwise
/// stay in the queue, and their clients would wait in vain.
///
/// The loops of a group share them. Another thread can be quicker to take a released descriptor, for a
/// file or a connection, and then there is one less until a descriptor is closed somewhere. That must
/// not leave a loop without any.
final class SpareDescriptors: Sendable {
  private struct State {
    var held: [Int32] = []
    /// The number of descriptors in use by connections that are being refused.
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

  /// Opens the spare descriptors, unless already done.
  func prepare() {
    state.withLock { refill(&$0) }
  }

  /// Releases a spare descriptor for the one that `accept` opens, until ``takeBack()``. Returns nil if
  /// there is none, or `accept` returned nil.
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

  /// Notes that the descriptor opened by ``lend(_:)`` is closed.
  func takeBack() {
    state.withLock { state in
      state.lentCount -= 1
      refill(&state)
    }
  }

  /// Runs a call that opens a descriptor, while no spare one is released for another loop.
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
