import Model
import Synchronization

/// The calls to one upstream that wait or are in progress for clients, by the network that they are for.
///
/// A network has at most a share of the upstream's concurrent calls; further calls wait in a line of its
/// own, so a client that begins many slow calls, with any credentials, delays only its own network. A
/// place is held until the call has really ended, also if its client left before. Cached responses take
/// no place, and callers who wait for the same response take one together.
///
/// What the service does by itself, and queued mutations, which have limits of their own, need no place.
package final class CallShares: Sendable {
  /// The maximum number of calls that wait in the line of one network.
  static let lineMax = 1_024
  /// The maximum number of calls that wait in all lines.
  static let waitingMax = 4_096
  /// The longest wait in a line; as long as a call can wait for a connection.
  static let waitMax = Duration.seconds(5)

  private struct Waiter {
    let number: UInt64
    /// Resumed with whether it has a place.
    let continuation: CheckedContinuation<Bool, Never>
    /// Ends the wait.
    var timer: Task<Void, Never>?

    func resume(with hasPlace: Bool) {
      timer?.cancel()
      continuation.resume(returning: hasPlace)
    }
  }

  private struct Line {
    var running = 0
    /// The longest waiting first.
    var waiting: [Waiter] = []
  }

  private struct State {
    /// By ``Model/ClientNetwork/block``: one customer of a provider often has all addresses of it.
    var lines: [String: Line] = [:]
    var waitingCount = 0
    var lastNumber: UInt64 = 0
  }

  /// The concurrent calls of one network; nil for no limit.
  let callsMax: Int?
  private let sleep: @Sendable (Duration) async throws -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - concurrencyMax: the upstream's concurrent calls, of which a network can have three quarters,
  ///     rounded up.
  ///   - sleep: returns after the duration, or throws if its task is cancelled.
  package init(
    concurrencyMax: Int, sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    callsMax = max(1, concurrencyMax - concurrencyMax / 4)
    self.sleep = sleep
  }

  private init() {
    callsMax = nil
    sleep = { _ in }
  }

  /// Places without a limit.
  package static let unlimited = CallShares()

  /// The number of calls in progress and of waiting ones, for a network.
  func counts(of network: ClientNetwork) -> (running: Int, waiting: Int) {
    state.withLock { state in
      let line = state.lines[network.block]
      return (line?.running ?? 0, line?.waiting.count ?? 0)
    }
  }

  /// Takes a place for a call, if the caller's network has one now; nil if the call must wait.
  func takeAtOnce(for caller: Caller) -> CallPlace? {
    guard let callsMax, let network = caller.network?.block else { return CallPlace() }
    let isTaken = state.withLock { state in
      guard state.lines[network, default: Line()].running < callsMax else { return false }
      state.lines[network, default: Line()].running += 1
      return true
    }
    return isTaken ? place(in: network) : nil
  }

  /// Takes a place for a call, after a wait if necessary; nil if the line is full, the wait too long or
  /// the task cancelled.
  func take(for caller: Caller) async -> CallPlace? {
    if let place = takeAtOnce(for: caller) { return place }
    guard let network = caller.network?.block else { return nil }
    return await wait(in: network) ? place(in: network) : nil
  }

  private func place(in network: String) -> CallPlace {
    CallPlace { [self] in release(network) }
  }

  private func wait(in network: String) async -> Bool {
    let number = state.withLock { state in
      state.lastNumber += 1
      return state.lastNumber
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if let isTaken = enqueue(Waiter(number: number, continuation: continuation), network) {
          continuation.resume(returning: isTaken)
        } else {
          limitWait(of: number, in: network)
          // A cancellation before this point found nothing to withdraw.
          if Task.isCancelled { withdraw(number, from: network) }
        }
      }
    } onCancel: {
      withdraw(number, from: network)
    }
  }

  /// - Returns: whether it has a place; nil if it waits.
  private func enqueue(_ waiter: Waiter, _ network: String) -> Bool? {
    state.withLock { state in
      var line = state.lines[network] ?? Line()
      defer { state.lines[network] = line }
      if line.running < callsMax ?? .max {
        line.running += 1
        return true
      }
      guard line.waiting.count < Self.lineMax, state.waitingCount < Self.waitingMax else {
        return false
      }
      line.waiting.append(waiter)
      state.waitingCount += 1
      return nil
    }
  }

  private func limitWait(of number: UInt64, in network: String) {
    let timer = Task { [self] in
      try? await sleep(Self.waitMax)
      withdraw(number, from: network)
    }
    let isWaiting = state.withLock { state in
      guard let index = state.lines[network]?.waiting.firstIndex(where: { $0.number == number })
      else { return false }
      state.lines[network]?.waiting[index].timer = timer
      return true
    }
    if !isWaiting { timer.cancel() }
  }

  private func withdraw(_ number: UInt64, from network: String) {
    let waiter = state.withLock { state -> Waiter? in
      guard let index = state.lines[network]?.waiting.firstIndex(where: { $0.number == number })
      else { return nil }
      state.waitingCount -= 1
      return state.lines[network]?.waiting.remove(at: index)
    }
    waiter?.resume(with: false)
  }

  /// Gives the place to the call that has waited longest.
  private func release(_ network: String) {
    let next = state.withLock { state -> Waiter? in
      guard var line = state.lines[network] else { return nil }
      defer { state.lines[network] = line.running == 0 ? nil : line }
      guard !line.waiting.isEmpty else {
        line.running -= 1
        return nil
      }
      state.waitingCount -= 1
      return line.waiting.removeFirst()
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
  /// All places of the caller's network are taken.
  static var networkBusy: Failure {
    Failure(
      .upstreamBusy, "Too many calls of this network to the upstream API are waiting.",
      retry: .after, retryAfter: .seconds(1))
  }
}
