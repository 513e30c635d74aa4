import CLinux

/// What epoll says about a descriptor.
struct Readiness {
  let events: UInt32

  var isReadable: Bool { events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 || isHungUp }
  var isWritable: Bool { events & EPOLLOUT.rawValue != 0 || isHungUp }
  /// The peer shut its side, or the whole connection is gone: read to the end, whatever the count.
  var isEnding: Bool { events & EPOLLRDHUP.rawValue != 0 || isHungUp }
  /// Both directions are shut, or the socket holds an error.
  var isHungUp: Bool { events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 }
  var hasError: Bool { events & EPOLLERR.rawValue != 0 }

  static let edgeTriggeredRead = EPOLLIN.rawValue | EPOLLET.rawValue

  /// Set where the kernel said nothing: the receiver has more to do than its last turn allowed.
  var isLeftOver: Bool { events & Self.leftOverMark != 0 }

  static let leftOver = Readiness(
    events: EPOLLIN.rawValue | EPOLLOUT.rawValue | leftOverMark)
  /// None of epoll's own (epoll_ctl(2)).
  private static let leftOverMark: UInt32 = 1 << 24

  /// Both directions from the start: no epoll_ctl is ever needed again, and an edge for writing
  /// comes only after a write has met a full socket.
  static let edgeTriggeredStream =
    EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
}
