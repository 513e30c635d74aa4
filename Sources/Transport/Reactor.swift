import CLinux
import Glibc

/// The owner of everything that lives on one event loop: sockets, timers and their delegates.
///
/// The reactor is an actor whose executor is the loop. It owns plain, non-Sendable objects that never
/// leave its region: callbacks take `on reactor: isolated Reactor`, so a delegate can start a task that
/// stays in this isolation and captures its connection:
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

  /// Runs one turn like `assumeIsolated`, but without allocating a box for the closure each time.
  private nonisolated func turn(mayWait: Bool) -> Bool {
    loop.checkIsolated()
    let poll: (isolated Reactor, Bool) -> Bool = { $0.core.poll(mayWait: $1, on: $0) }
    // SAFETY: isolation is not part of a function's calling convention, and the check above proves
    // that this is the actor's thread.
    return unsafeBitCast(poll, to: ((Reactor, Bool) -> Bool).self)(self, mayWait)
  }

  /// The loop's time as of this turn.
  package var now: LoopInstant { core.now }

  /// Seconds since 1970 as of this turn, for `Date`.
  package var wallSeconds: Int64 { core.wallSeconds }

  /// The number of open sockets of this loop: streams and listeners.
  package var openCount: Int { core.slots.count }

  /// Closes everything the loop owns, notifies each delegate, and stops the loop.
  func shutdown() {
    core.stop(on: self)
    loop.stop()
  }
}

/// A value of one loop's region that other code can hold, but not access.
///
/// It lets a Sendable object refer to state that lives on a loop: only code isolated to the same reactor
/// can read the value.
package struct LoopBound<Value>: Sendable {
  package let reactor: Reactor
  // SAFETY: set and read only in the isolation of `reactor`, which `get` checks.
  private nonisolated(unsafe) let value: Value

  package init(_ value: Value, on reactor: isolated Reactor) {
    self.value = value
    self.reactor = reactor
  }

  package func get(on reactor: isolated Reactor) -> Value {
    precondition(reactor === self.reactor, "the value belongs to another loop")
    return value
  }
}
