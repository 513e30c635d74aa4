import Model
import Synchronization

/// The calls to one upstream that wait or are in progress for clients, by the networks and owners that
/// they are for (``CallerOwner``).
///
/// A network has at most a share of the upstream's concurrent calls, and an owner a share of its
/// network's; further calls wait in a line of their owner (``CallLines``). So a client that begins many
/// slow calls, with any credentials, delays no other network, and behind one address none that is signed
/// in. A place is held until the call has really ended, also if its client left before. Cached responses
/// take no place, and callers who wait for the same response take one together.
///
/// What the service does by itself, and queued mutations, which have limits of their own, need no place.
package final class CallShares: Sendable {
  /// The longest wait in a line; as long as a call can wait for a connection.
  static let waitMax = Duration.seconds(5)

  private struct Waiter {
    /// Resumed with whether it has a place.
    let continuation: CheckedContinuation<Bool, Never>
    /// Ends the wait.
    var timer: Task<Void, Never>?

    func resume(with hasPlace: Bool) {
      timer?.cancel()
      continuation.resume(returning: hasPlace)
    }
  }

  private struct State {
    /// Nil for no limit.
    var lines: CallLines?
    var waiters: [UInt64: Waiter] = [:]
    var lastNumber: UInt64 = 0
  }

  private let sleep: @Sendable (Duration) async throws -> Void
  private let state: Mutex<State>

  /// - Parameters:
  ///   - concurrencyMax: the upstream's concurrent calls.
  ///   - sleep: returns after the duration, or throws if its task is cancelled.
  package init(
    concurrencyMax: Int, sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.sleep = sleep
    state = Mutex(State(lines: CallLines(concurrencyMax: concurrencyMax)))
  }

  private init() {
    sleep = { _ in }
    state = Mutex(State())
  }

  /// Places without a limit.
  package static let unlimited = CallShares()

  /// The number of calls in progress and of waiting ones, for a network.
  func counts(of network: ClientNetwork) -> (running: Int, waiting: Int) {
    state.withLock { $0.lines?.counts(of: network.block) ?? (0, 0) }
  }

  /// Takes a place for a call, if the caller has one now; nil if the call must wait.
  func takeAtOnce(for caller: Caller) -> CallPlace? {
    guard let owner = caller.ownerInNetwork else { return CallPlace() }
    // Nil for no limit.
    let hasPlace = state.withLock { $0.lines?.enter(owner) }
    return switch hasPlace {
    case nil: CallPlace()
    case true?: place(of: owner)
    case false?: nil
    }
  }

  /// Takes a place for a call, after a wait if necessary; nil if the line is full, the wait too long or
  /// the task cancelled.
  func take(for caller: Caller) async -> CallPlace? {
    if let place = takeAtOnce(for: caller) { return place }
    guard let owner = caller.ownerInNetwork else { return nil }
    return await wait(as: owner) ? place(of: owner) : nil
  }

  private func place(of owner: CallerOwner.InNetwork) -> CallPlace {
    CallPlace { [self] in release(owner) }
  }

  private func wait(as owner: CallerOwner.InNetwork) async -> Bool {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if let hasPlace = enqueue(Waiter(continuation: continuation), number, of: owner) {
          continuation.resume(returning: hasPlace)
        } else {
          limitWait(of: number, as: owner)
          // A cancellation before this point found nothing to withdraw.
          if Task.isCancelled { withdraw(number, of: owner) }
        }
      }
    } onCancel: {
      withdraw(number, of: owner)
    }
  }

  /// - Returns: whether it has a place; nil if it waits.
  private func enqueue(
    _ waiter: Waiter, _ number: UInt64, of owner: CallerOwner.InNetwork
  ) -> Bool? {
    state.withLock { state in
      switch state.lines?.submit(number, of: owner) {
      case nil, .hasPlace: return true
      case .refused: return false
      case .waits:
        state.waiters[number] = waiter
        return nil
      }
    }
  }

  private func limitWait(of number: UInt64, as owner: CallerOwner.InNetwork) {
    let timer = Task { [self] in
      try? await sleep(Self.waitMax)
      withdraw(number, of: owner)
    }
    let isWaiting = state.withLock { state in
      state.waiters[number]?.timer = timer
      return state.waiters[number] != nil
    }
    if !isWaiting { timer.cancel() }
  }

  private func withdraw(_ number: UInt64, of owner: CallerOwner.InNetwork) {
    let waiter = state.withLock { state in
      state.lines?.withdraw(number, of: owner)
      return state.waiters.removeValue(forKey: number)
    }
    waiter?.resume(with: false)
  }

  /// Gives the place to the next call of the network that waits.
  private func release(_ owner: CallerOwner.InNetwork) {
    let next = state.withLock { state -> Waiter? in
      guard let number = state.lines?.leave(owner) else { return nil }
      return state.waiters.removeValue(forKey: number)
    }
    next?.resume(with: true)
  }
}

/// The place of one call, until it is released.
final class CallPlace: Sendable {
  private let whenReleased: (@Sendable () -> Void)?
  private let isReleased = Atomic(false)

  init(whenReleased: (@Sendable () -> Void)? = nil) {
    self.whenReleased = whenReleased
  }

  /// Releases the place; once.
  func release() {
    if !isReleased.exchange(true, ordering: .acquiringAndReleasing) { whenReleased?() }
  }

  deinit { release() }
}

extension Failure {
  /// All places of the caller, or of its network, are taken, and the wait for one was too long.
  static var sharesTaken: Failure {
    Failure(
      .upstreamBusy,
      "Too many calls of this caller, or of its network, to the upstream API are waiting.",
      retry: .after, retryAfter: .seconds(1))
  }
}
