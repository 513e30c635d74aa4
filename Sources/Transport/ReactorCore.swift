import CLinux
import Glibc

/// The state of a reactor, separate from the actor so that the objects it owns can access it without
/// their own isolation: any code in the reactor's region can write to a stream or set a timer.
final class ReactorCore {
  /// How long a loop waits in `epoll_wait` before it returns its thread to Dispatch. Waking it there
  /// costs about 7 µs, through Dispatch about 100 µs.
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
  /// The buffers for bytes read from sockets and for bytes decrypted by TLS. Both are valid for the
  /// duration of one callback.
  let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: scratchBytes, alignment: 16)
  let plainScratch = UnsafeMutableRawBufferPointer.allocate(byteCount: scratchBytes, alignment: 16)
  /// The buffer for outgoing TLS records and files; separate from the two above, since a callback can
  /// write while it still reads its bytes.
  let outScratch = UnsafeMutableRawBufferPointer.allocate(byteCount: scratchBytes, alignment: 16)

  /// Receivers with more to do than one turn allows.
  private var again: [SlotToken] = []
  /// The receivers left over from the last turn, to resume in this one.
  private var leftOver: [SlotToken] = []
  /// Streams that have ended and whose delegates have not been notified.
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

  /// Adds a listener and returns its id.
  func add(_ listener: Listener) -> Int {
    nextListener += 1
    listeners[nextListener] = listener
    return nextListener
  }

  func removeListener(_ id: Int) -> Listener? {
    listeners.removeValue(forKey: id)
  }

  /// Schedules a call of `receive(_:on:)` in the next turn.
  func continueLater(_ token: SlotToken) {
    again.append(token)
  }

  /// Schedules a call of the delegate's `closed` at the end of this turn.
  func announceEnd(of stream: ByteStream) {
    ended.append(stream)
  }
}

extension ReactorCore {
  /// Runs one turn: kernel events, left-over work, due timers. Returns whether anything happened.
  func poll(mayWait: Bool, on reactor: isolated Reactor) -> Bool {
    let count = epoll_wait(
      epoll.number, events, Int32(Self.eventsPerPollMax), mayWait ? timeoutMilliseconds : 0)
    now = LoopClock.now()
    wallSeconds = LoopClock.wallSeconds()
    // Work left over by this turn's events is for the next turn.
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

  /// Arms the timerfd for the earliest deadline, since an idle loop is not in `epoll_wait`. An active loop
  /// checks its timers anyway, so this costs a busy loop nothing.
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
    // A delegate can close further streams, which are reported in the same turn.
    while !ended.isEmpty {
      let streams = ended
      ended.removeAll(keepingCapacity: true)
      for stream in streams { LoopWatch.step("end") { stream.announceEnd(on: reactor) } }
    }
    return true
  }
}
