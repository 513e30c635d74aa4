import CLinux
import Glibc

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
