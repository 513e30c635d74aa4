import Synchronization
import Transport

/// The connections of the whole server, counted over all loops: what the caps and the end need.
final class ConnectionBook: Sendable {
  private struct State {
    var total = 0
    var byAddress: [SocketAddress: Int] = [:]
    var emptyWaiters: [CheckedContinuation<Void, Never>] = []
  }

  private let perAddressMax: Int?
  private let state = Mutex(State())

  init(perAddressMax: Int?) {
    self.perAddressMax = perAddressMax
  }

  var total: Int { state.withLock { $0.total } }

  /// Enters a connection. Returns the number there are now; `nil` if its address has too many, in
  /// which case nothing is entered.
  func enter(_ address: SocketAddress) -> Int? {
    state.withLock { state in
      if let perAddressMax {
        let count = state.byAddress[address.with(port: 0), default: 0]
        guard count < perAddressMax else { return nil }
        state.byAddress[address.with(port: 0)] = count + 1
      }
      state.total += 1
      return state.total
    }
  }

  /// Strikes out a connection that was entered.
  func leave(_ address: SocketAddress) {
    let waiters = state.withLock { state in
      state.total -= 1
      if perAddressMax != nil {
        let count = state.byAddress[address.with(port: 0), default: 1]
        state.byAddress[address.with(port: 0)] = count > 1 ? count - 1 : nil
      }
      guard state.total == 0 else { return [] as [CheckedContinuation<Void, Never>] }
      defer { state.emptyWaiters = [] }
      return state.emptyWaiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Returns once there is no connection.
  func waitUntilEmpty() async {
    await withCheckedContinuation { continuation in
      let isEmpty = state.withLock { state in
        if state.total == 0 { return true }
        state.emptyWaiters.append(continuation)
        return false
      }
      if isEmpty { continuation.resume() }
    }
  }
}
