import CLinux
import Glibc

/// The state of a reactor, apart from the actor so that the objects it owns can reach it without
/// isolation of their own: a stream writes, a timer is set, from any code in the reactor's region.
final class ReactorCore {
  /// How long a loop waits in `epoll_wait` before it gives its thread back to Dispatch. Waking it
  /// there costs about 7 µs, through Dispatch about 100 µs.
  static let lingerMilliseconds: Int32 = 5
  /// Events taken from the kernel in one call.
  static let eventsPerPollMax = 256
  /// Bytes read at once. A whole request head and a small body in one call.
  static let scratchBytes = 64 * 1024

  let epoll: Descriptor
  let resolver: BlockingPool
  let spares: SpareDescriptors
  private let timer: Descriptor
  private(set) var now = LoopClock.now()
  private(set) var wallSeconds = LoopClock.wallSeconds()
  var slots = SlotTable()
  var timers = TimerHeap()
  /// Where sockets are read to, and where TLS writes what it has deciphered. Both are valid for
  /// the length of one callback.
  let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: scratchBytes, alignment: 16)
  let plainScratch = UnsafeMutableRawBufferPointer.allocate(byteCount: scratchBytes, alignment: 16)
  /// Where TLS and files are read to on their way out; apart from the two above, since a callback
  /// that still reads its bytes may write.
  let outScratch = UnsafeMutableRawBufferPointer.allocate(byteCount: scratchBytes, alignment: 16)

  /// Receivers with more to do than one turn allows.
  private var again: [SlotToken] = []
  /// Those whose turn it is now.
  private var leftOver: [SlotToken] = []
  /// Streams that have ended and whose delegates do not know yet.
  private var ended: [ByteStream] = []
  private var armedFor: LoopInstant?
  private(set) var isStopped = false
  private(set) var listeners: [Int: Listener] = [:]
  private var nextListener = 0
  private let events = UnsafeMutablePointer<epoll_event>.allocate(capacity: eventsPerPollMax)

  init(
    epoll: Descriptor, timer: Descriptor, resolver: BlockingPool, spares: SpareDescriptors
  ) {
    self.epoll = epoll
    self.timer = timer
    self.resolver = resolver
    self.spares = spares
  }

  deinit {
    scratch.deallocate()
    plainScratch.deallocate()
    outScratch.deallocate()
    events.deallocate()
  }

  /// Keeps the listener and returns the name to stop it by.
  func add(_ listener: Listener) -> Int {
    nextListener += 1
    listeners[nextListener] = listener
    return nextListener
  }

  func removeListener(_ id: Int) -> Listener? {
    listeners.removeValue(forKey: id)
  }

  /// Asks for `receive(_:on:)` in the next turn.
  func continueLater(_ token: SlotToken) {
    again.append(token)
  }

  /// Has the stream's delegate told, at the end of this turn, that the stream is closed.
  func announceEnd(of stream: ByteStream) {
    ended.append(stream)
  }
}

extension ReactorCore {
  /// One turn: what the kernel says, what was left over, what has come due. Returns whether
  /// anything happened.
  func poll(mayWait: Bool, on reactor: isolated Reactor) -> Bool {
    let count = epoll_wait(
      epoll.number, events, Int32(Self.eventsPerPollMax), mayWait ? timeoutMilliseconds : 0)
    now = LoopClock.now()
    wallSeconds = LoopClock.wallSeconds()
    // What events of this turn leave over is for the next one.
    swap(&again, &leftOver)
    var isBusy = false
    for index in 0..<Int(max(count, 0)) {
      let event = events[index]
      isBusy = true
      guard let receiver = slots[SlotToken(bits: event.data.u64)] else { continue }
      LoopWatch.step("event") { receiver.receive(Readiness(events: event.events), on: reactor) }
    }
    isBusy = resumeLeftOver(on: reactor) || isBusy
    isBusy = fireTimers(on: reactor) || isBusy
    return announceEnds(on: reactor) || isBusy
  }

  /// Ends every stream and listener of the loop.
  func stop(on reactor: isolated Reactor) {
    isStopped = true
    for receiver in slots.receivers { receiver.loopStops() }
    _ = announceEnds(on: reactor)
    timers.removeAll()
    listeners.removeAll()
  }

  /// Arms the timerfd for the earliest deadline: an idle loop is not in `epoll_wait`. A loop that
  /// turns looks at its timers anyway, so this costs a busy loop nothing.
  func armTimer() {
    let next = timers.earliest
    guard next != armedFor else { return }
    armedFor = next
    var setting = itimerspec()
    if let next {
      // Zero would disarm.
      let nanoseconds = max(next.nanoseconds, 1)
      setting.it_value.tv_sec = Int(nanoseconds / 1_000_000_000)
      setting.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
    }
    timerfd_settime(timer.number, Int32(TFD_TIMER_ABSTIME), &setting, nil)
  }

  private var timeoutMilliseconds: Int32 {
    guard again.isEmpty, ended.isEmpty else { return 0 }
    guard let next = timers.earliest else { return Self.lingerMilliseconds }
    let current = LoopClock.now()
    guard next > current else { return 0 }
    // Rounded up: a wait that ends early would spin until the deadline.
    let wait = (next.nanoseconds - current.nanoseconds + 999_999) / 1_000_000
    return Int32(min(wait, UInt64(Self.lingerMilliseconds)))
  }

  private func resumeLeftOver(on reactor: isolated Reactor) -> Bool {
    guard !leftOver.isEmpty else { return false }
    for token in leftOver {
      LoopWatch.step("event") { slots[token]?.receive(.leftOver, on: reactor) }
    }
    leftOver.removeAll(keepingCapacity: true)
    return true
  }

  private func announceEnds(on reactor: isolated Reactor) -> Bool {
    guard !ended.isEmpty else { return false }
    // A delegate may close further streams: these are told in the same turn.
    while !ended.isEmpty {
      let streams = ended
      ended.removeAll(keepingCapacity: true)
      for stream in streams { LoopWatch.step("end") { stream.announceEnd(on: reactor) } }
    }
    return true
  }
}
