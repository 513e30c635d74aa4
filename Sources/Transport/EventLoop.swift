import CLinux
import Dispatch
import Glibc
import Synchronization

/// An event loop: an epoll descriptor, the jobs that run on it, and one serial queue.
///
/// The loop is a serial executor (of its `Reactor`) and a task executor, so that a request handler
/// started with `executorPreference: loop` stays on the thread that owns its connection, also
/// across calls to default actors and plain async functions.
///
/// Dispatch watches one descriptor, the epoll set. When it becomes readable the queue's worker runs
/// turns (events, then jobs) until nothing has happened for `ReactorCore.lingerMilliseconds`, and only
/// then returns the thread. In the meantime nothing else on the queue can run: timers are a timerfd in
/// the epoll set, and jobs from other threads arrive through an eventfd.
package final class EventLoop: SerialExecutor, TaskExecutor {
  /// Performs the I/O of a turn; returns whether anything happened.
  typealias Poll = @Sendable (_ mayWait: Bool) -> Bool

  private struct Inbox {
    var jobs: [UnownedJob] = []
    /// Whether the loop has stopped: no turn drains the inbox any more, and late jobs go to the queue.
    var isStopped = false
  }

  package let index: Int
  let epoll: Descriptor
  let timer: Descriptor
  private let wake: Descriptor
  private let queue: DispatchQueue
  /// The thread inside a turn (`pthread_self`), or 0 between turns.
  private let owner = Atomic<UInt>(0)
  private let inbox = Mutex(Inbox())

  init(index: Int) throws(SystemError) {
    self.index = index
    queue = DispatchQueue(label: "larder.loop.\(index)")
    epoll = try Descriptor(owning: epoll_create1(Int32(EPOLL_CLOEXEC)), from: "epoll_create1")
    wake = try Descriptor(
      owning: eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)), from: "eventfd")
    timer = try Descriptor(
      owning: timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK)),
      from: "timerfd_create")
    // Edge-triggered and never read: every write to either is an edge of its own.
    for (descriptor, token) in [(wake, SlotToken.wake), (timer, SlotToken.timer)] {
      try epoll.watch(descriptor.number, as: token, events: Readiness.edgeTriggeredRead)
    }
  }

  /// Whether the current thread is inside this loop's turn.
  package var isCurrent: Bool {
    owner.load(ordering: .acquiring) == UInt(pthread_self())
  }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let (isFirst, isStopped) = inbox.withLock { inbox in
      if inbox.isStopped { return (false, true) }
      inbox.jobs.append(job)
      return (inbox.jobs.count == 1, false)
    }
    if isStopped { return runLate(job) }
    // One wake-up per batch; none from the loop's own thread, which drains before it waits.
    if isFirst, !isCurrent { eventfd_write(wake.number, 1) }
  }

  package func checkIsolated() {
    precondition(isCurrent, "not on this event loop")
  }

  package func isIsolatingCurrentContext() -> Bool? {
    isCurrent
  }
}

extension EventLoop {
  /// Starts watching the epoll set. `poll` performs the I/O of one turn; `rest` is called before the
  /// thread returns to Dispatch and arms the timer. Both run on the loop.
  func start(poll: @escaping Poll, rest: @escaping @Sendable () -> Void) {
    let source = DispatchSource.makeReadSource(fileDescriptor: epoll.number, queue: queue)
    // The handler holds the source, and the loop, until it cancels it.
    source.setEventHandler { [self] in
      runTurns(poll: poll, rest: rest)
      if isStopped { source.cancel() }
    }
    source.activate()
  }

  /// Makes the current turn the last. Jobs already enqueued run in it, later ones run on the queue one by
  /// one. Call it on the loop.
  func stop() {
    inbox.withLock { $0.isStopped = true }
  }

  private var isStopped: Bool {
    inbox.withLock { $0.isStopped }
  }

  private func runTurns(poll: Poll, rest: @Sendable () -> Void) {
    owner.store(UInt(pthread_self()), ordering: .releasing)
    var hasJobs = true
    var isActive = true
    while isActive {
      let sawEvents = poll(!hasJobs)
      let (ran, left) = drain()
      hasJobs = left
      isActive = sawEvents || ran
    }
    rest()
    owner.store(0, ordering: .releasing)
  }

  /// Runs the waiting jobs, but none that they enqueue: a task that yields forever must not keep the loop
  /// from its sockets.
  private func drain() -> (ran: Bool, left: Bool) {
    var batch: [UnownedJob] = []
    inbox.withLock { swap(&batch, &$0.jobs) }
    guard !batch.isEmpty else { return (false, false) }
    for job in batch { run(job) }
    batch.removeAll(keepingCapacity: true)
    let left = inbox.withLock { inbox in
      guard inbox.jobs.isEmpty else { return true }
      swap(&batch, &inbox.jobs)  // keeps the capacity
      return false
    }
    return (true, left)
  }

  private func run(_ job: UnownedJob) {
    LoopWatch.step("job") {
      job.runSynchronously(
        isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }
  }

  private func runLate(_ job: UnownedJob) {
    queue.async { [self] in
      owner.store(UInt(pthread_self()), ordering: .releasing)
      run(job)
      owner.store(0, ordering: .releasing)
    }
  }
}
