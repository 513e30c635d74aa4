import CLinux

/// Identifies one registration in a loop's epoll set: a slot and its generation.
///
/// A batch of events can contain one for a socket that an earlier event of the same batch closed, and
/// the slot may already belong to another socket. The generation distinguishes them.
struct SlotToken: Equatable {
  let bits: UInt64

  var slot: Int { Int(UInt32(truncatingIfNeeded: bits)) }
  var generation: UInt32 { UInt32(truncatingIfNeeded: bits >> 32) }

  init(bits: UInt64) {
    self.bits = bits
  }

  init(slot: Int, generation: UInt32) {
    bits = UInt64(generation) << 32 | UInt64(UInt32(slot))
  }

  /// Generations count from 1 upwards, so these two belong to no slot.
  static let wake = SlotToken(bits: 0)
  static let timer = SlotToken(bits: 1)
}

/// An object with a descriptor in the epoll set.
protocol EventReceiver: AnyObject {
  func receive(_ readiness: Readiness, on reactor: isolated Reactor)
  /// Ends at once because the loop stops.
  func loopStops()
}

/// The registrations of one loop.
struct SlotTable {
  private struct Slot {
    var generation: UInt32 = 1
    var receiver: (any EventReceiver)?
  }

  private var slots: ContiguousArray<Slot> = []
  private var free: ContiguousArray<Int> = []

  var count: Int { slots.count - free.count }

  var receivers: [any EventReceiver] { slots.compactMap(\.receiver) }

  mutating func insert(_ receiver: any EventReceiver) -> SlotToken {
    if let slot = free.popLast() {
      slots[slot].receiver = receiver
      return SlotToken(slot: slot, generation: slots[slot].generation)
    }
    slots.append(Slot(receiver: receiver))
    return SlotToken(slot: slots.count - 1, generation: 1)
  }

  mutating func remove(_ token: SlotToken) {
    guard self[token] != nil else { return }
    let next = slots[token.slot].generation &+ 1
    slots[token.slot] = Slot(generation: next == 0 ? 1 : next)
    free.append(token.slot)
  }

  subscript(token: SlotToken) -> (any EventReceiver)? {
    guard token.slot < slots.count, slots[token.slot].generation == token.generation else {
      return nil
    }
    return slots[token.slot].receiver
  }
}

/// The events that epoll reports for a descriptor.
struct Readiness {
  let events: UInt32

  var isReadable: Bool { events & (EPOLLIN.rawValue | EPOLLRDHUP.rawValue) != 0 || isHungUp }
  var isWritable: Bool { events & EPOLLOUT.rawValue != 0 || isHungUp }
  /// Whether the peer closed its side or the whole connection: read to the end, whatever the count.
  var isEnding: Bool { events & EPOLLRDHUP.rawValue != 0 || isHungUp }
  /// Whether both directions are closed, or the socket has an error.
  var isHungUp: Bool { events & (EPOLLHUP.rawValue | EPOLLERR.rawValue) != 0 }
  var hasError: Bool { events & EPOLLERR.rawValue != 0 }

  static let edgeTriggeredRead = EPOLLIN.rawValue | EPOLLET.rawValue

  /// Whether this is not a kernel event: the receiver has more to do than its last turn allowed.
  var isLeftOver: Bool { events & Self.leftOverMark != 0 }

  static let leftOver = Readiness(
    events: EPOLLIN.rawValue | EPOLLOUT.rawValue | leftOverMark)
  /// Not one of epoll's own bits (epoll_ctl(2)).
  private static let leftOverMark: UInt32 = 1 << 24

  /// Both directions from the start: epoll_ctl is never needed again, and an edge for writing occurs only
  /// after a write has met a full socket.
  static let edgeTriggeredStream =
    EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
}
