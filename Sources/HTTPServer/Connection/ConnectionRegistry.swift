import Synchronization
import Transport

/// The connections of the whole server, counted over all loops: what the caps and the end need.
///
/// Every connection is entered, and one that is to be served also takes one of the places there are.
final class ConnectionRegistry: Sendable {
  private struct State {
    var total = 0
    var placesTaken = 0
    /// Those that had to make room and are about to end.
    var shed = 0
    var byAddress: [SocketAddress: Int] = [:]
    var emptyWaiters: [CheckedContinuation<Void, Never>] = []
  }

  private let connectionsMax: Int
  private let perAddressMax: Int?
  private let isExempt: @Sendable (SocketAddress) -> Bool
  private let state = Mutex(State())

  /// - Parameter isExempt: whether many clients come from an address, as from a proxy's.
  init(
    connectionsMax: Int, perAddressMax: Int?,
    exempting isExempt: @escaping @Sendable (SocketAddress) -> Bool
  ) {
    self.connectionsMax = connectionsMax
    self.perAddressMax = perAddressMax
    self.isExempt = isExempt
  }

  var total: Int { state.withLock { $0.total } }

  /// Connections that wait for a place, or are told that there is none.
  var placeless: Int { state.withLock { $0.total - $0.placesTaken - $0.shed } }

  /// Enters a connection. Returns false if its address has more than it may: it can be told so, and
  /// is to leave.
  func enter(_ address: SocketAddress) -> Bool {
    let isCounted = isCounted(address)
    return state.withLock { state in
      state.total += 1
      guard let perAddressMax, isCounted else { return true }
      let count = state.byAddress[address.with(port: 0), default: 0] + 1
      state.byAddress[address.with(port: 0)] = count
      return count <= perAddressMax
    }
  }

  /// Takes a place for a connection that was entered. Returns false if none is left.
  func takePlace() -> Bool {
    state.withLock { state in
      guard state.placesTaken < connectionsMax else { return false }
      state.placesTaken += 1
      return true
    }
  }

  func leavePlace() {
    state.withLock { $0.placesTaken -= 1 }
  }

  /// Gives back the place of a connection that stays entered until ``shedHasEnded()``.
  func shedPlace() {
    state.withLock { state in
      state.placesTaken -= 1
      state.shed += 1
    }
  }

  func shedHasEnded() {
    state.withLock { $0.shed -= 1 }
  }

  /// Strikes out a connection that was entered.
  func leave(_ address: SocketAddress) {
    let isCounted = isCounted(address)
    let waiters = state.withLock { state in
      state.total -= 1
      if isCounted {
        let count = state.byAddress[address.with(port: 0), default: 1]
        state.byAddress[address.with(port: 0)] = count > 1 ? count - 1 : nil
      }
      guard state.total == 0 else { return [] as [CheckedContinuation<Void, Never>] }
      defer { state.emptyWaiters = [] }
      return state.emptyWaiters
    }
    for waiter in waiters { waiter.resume() }
  }

  private func isCounted(_ address: SocketAddress) -> Bool {
    perAddressMax != nil && !isExempt(address)
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
