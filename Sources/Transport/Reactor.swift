import CLinux
import Glibc

/// The owner of everything that lives on one event loop: sockets, timers and their delegates.
///
/// The reactor is an actor whose executor is the loop. What it owns is plain, non-Sendable objects
/// that never leave its region: callbacks take `on reactor: isolated Reactor`, so a delegate may
/// start a task that stays in this isolation and captures its connection:
///
///     func received(_ bytes: UnsafeRawBufferPointer, …, on reactor: isolated Reactor) {
///       Task.immediate(executorPreference: reactor.loop) {
///         _ = reactor  // names the isolation the closure inherits
///         self.finish(await handler.respond(to: request))
///       }
///     }
package actor Reactor {
  package nonisolated let loop: EventLoop
  let core: ReactorCore

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    loop.asUnownedSerialExecutor()
  }

  init(loop: EventLoop, resolver: BlockingPool, spares: SpareDescriptors) {
    self.loop = loop
    core = ReactorCore(epoll: loop.epoll, timer: loop.timer, resolver: resolver, spares: spares)
  }

  nonisolated func start() {
    loop.start(
      poll: { [self] mayWait in turn(mayWait: mayWait) },
      rest: { [self] in assumeIsolated { $0.core.armTimer() } })
  }

  /// One turn, as `assumeIsolated` would run it, but without the box that it allocates for its
  /// closure each time.
  private nonisolated func turn(mayWait: Bool) -> Bool {
    loop.checkIsolated()
    let poll: (isolated Reactor, Bool) -> Bool = { $0.core.poll(mayWait: $1, on: $0) }
    // SAFETY: isolation is no part of a function's calling convention, and the check above has
    // shown that this thread is the actor's own.
    return unsafeBitCast(poll, to: ((Reactor, Bool) -> Bool).self)(self, mayWait)
  }

  /// The loop's clock as of this turn.
  package var now: LoopInstant { core.now }

  /// Seconds since 1970 as of this turn, for `Date`.
  package var wallSeconds: Int64 { core.wallSeconds }

  /// Sockets of this loop that are open: streams and listeners.
  package var openCount: Int { core.slots.count }

  /// Closes everything the loop owns, tells each delegate, and stops the loop.
  func shutdown() {
    core.stop(on: self)
    loop.stop()
  }
}

/// A value of one loop's region that code elsewhere may hold, but not touch.
///
/// It lets a Sendable object name state that lives on a loop: the value comes out only to code that
/// is isolated to the very reactor it was put in on.
package struct LoopBound<Value>: Sendable {
  package let reactor: Reactor
  // SAFETY: put in and taken out only in the isolation of `reactor`, which `get` checks.
  private nonisolated(unsafe) let value: Value

  package init(_ value: Value, on reactor: isolated Reactor) {
    self.value = value
    self.reactor = reactor
  }

  package func get(on reactor: isolated Reactor) -> Value {
    precondition(reactor === self.reactor, "a value of another loop")
    return value
  }
}
