import Metrics
import Synchronization
import Transport

/// The WebSocket connections of a client, each on one of the group's loops. They count separately from
/// the pools.
final class WebSocketRegistry: Sendable {
  private struct State {
    var lastID = 0
    /// The connections; nil for one that is not known on its loop yet.
    var dialers: [Int: LoopBound<WebSocketDialer>?] = [:]
    var isClosed = false
  }

  private let connectionsMax: Int
  private let connections = Meter(label: "larder.http.client.websockets")
  private let state = Mutex(State())

  init(connectionsMax: Int) {
    self.connectionsMax = connectionsMax
  }

  /// Takes a place for a connection and returns its id.
  func enter() throws(HTTPClientError) -> Int {
    let entered = state.withLock { state -> Result<Int, HTTPClientError> in
      guard !state.isClosed else { return .failure(.clientClosed) }
      guard state.dialers.count < connectionsMax else { return .failure(.queueFull) }
      state.lastID += 1
      state.dialers.updateValue(nil, forKey: state.lastID)
      return .success(state.lastID)
    }
    let id = try entered.get()
    connections.increment()
    return id
  }

  /// Notes the connection of an id. Returns false if the client has been closed in the meantime.
  func note(_ dialer: LoopBound<WebSocketDialer>, as id: Int) -> Bool {
    state.withLock { state in
      state.dialers.updateValue(dialer, forKey: id)
      return !state.isClosed
    }
  }

  func leave(_ id: Int) {
    let wasThere = state.withLock { $0.dialers.removeValue(forKey: id) != nil }
    if wasThere { connections.decrement() }
  }

  /// The connection of an id; nil if it is not known yet, or has ended.
  func dialer(_ id: Int) -> LoopBound<WebSocketDialer>? {
    state.withLock { $0.dialers[id] ?? nil }
  }

  /// Begins to close all connections, and refuses later ones.
  func closeAll() async {
    let dialers = state.withLock { state in
      state.isClosed = true
      return state.dialers.values.compactMap { $0 }
    }
    for dialer in dialers { await dialer.reactor.end(dialer) }
  }
}

extension Reactor {
  fileprivate func end(_ dialer: LoopBound<WebSocketDialer>) {
    dialer.get(on: self).end(.clientClosed)
  }
}
