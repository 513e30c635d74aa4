package import Model
import Storage
import Synchronization

/// Wakes listeners on commits, by scope, without passing any data.
///
/// One timer sends heartbeats to all listeners that want them, and runs only while there are any: a
/// process with quiet streams wakes for nothing else.
package final class CommitSignal: Sendable {
  /// The time between two heartbeats of a stream: proxies close connections after a minute of silence.
  static let heartbeatInterval: Duration = .seconds(15)

  private struct Entry {
    let listener: ChangeListener
    let viewer: Viewer
    let device: String?
    let user: String?
    let result: ResultKey?
    /// Ends the listener when its caller's token expires.
    let ending: Task<Void, Never>?
  }

  private struct State {
    var listeners: [Scope: Set<ObjectIdentifier>] = [:]
    var all: [ObjectIdentifier: Entry] = [:]
    /// By the id of the device that they listen for.
    var devices: [String: Set<ObjectIdentifier>] = [:]
    /// By the user whose token opened them.
    var users: [String: Set<ObjectIdentifier>] = [:]
    /// By the result that their stream shows.
    var results: [ResultKey: Set<ObjectIdentifier>] = [:]
    var heartbeatTask: Task<Void, Never>?
    var heartbeatListeners = 0
    var hasEnded = false

    func listeners(to scopes: Set<Scope>) -> [ChangeListener] {
      let touched = scopes.reduce(into: Set<ObjectIdentifier>()) {
        $0.formUnion(listeners[$1] ?? [])
      }
      return touched.compactMap { all[$0]?.listener }
    }

    /// Returns the listeners of a result that the commit can have changed without changing an entity:
    /// its list has other members or another order, or it is due for a refetch.
    func watchers(of report: CommitReport) -> Set<ObjectIdentifier> {
      guard !results.isEmpty else { return [] }
      guard report.invalidated.isEmpty else {
        return results.values.reduce(into: []) { $0.formUnion($1) }
      }
      return report.changedResult.flatMap { results[$0] } ?? []
    }
  }

  private let state = Mutex(State())
  private let sleep: @Sendable (Duration) async throws -> Void

  /// - Parameter sleep: returns after the duration, or throws if its task is cancelled.
  package init(sleep: @escaping @Sendable (Duration) async throws -> Void) {
    self.sleep = sleep
  }

  /// The number of listeners.
  package var count: Int { state.withLock { $0.all.count } }

  /// Registers a listener until ``remove(_:)``. Must be called before reading the data that is waited
  /// for.
  ///
  /// - Parameters:
  ///   - viewer: the scopes whose commits wake it; none for a listener that reads no stored data.
  ///   - device: the id of the device, or of the console's session, that it listens for;
  ///     ``end(device:)`` ends it. The device must be confirmed after registering, since it can have been revoked before.
  ///   - user: the verified user that it listens for; ``end(user:)`` ends it. To be confirmed likewise.
  ///   - lifetime: the time after which it is ended; nil for no limit.
  ///   - wantsHeartbeats: whether it receives heartbeats.
  ///   - result: the result that the listener's stream shows, if any.
  package func listen(
    as viewer: Viewer, device: String? = nil, user: String? = nil, lifetime: Duration? = nil,
    wantsHeartbeats: Bool = false,
    result: ResultKey? = nil
  ) -> ChangeListener {
    let listener = ChangeListener(wantsHeartbeats: wantsHeartbeats)
    let ending = lifetime.map { wake(listener, .end, after: $0) }
    let hasEnded = state.withLock { state in
      state.all[ObjectIdentifier(listener)] = Entry(
        listener: listener, viewer: viewer, device: device, user: user, result: result,
        ending: ending)
      if let result { state.results[result, default: []].insert(ObjectIdentifier(listener)) }
      if let device {
        state.devices[device, default: []].insert(ObjectIdentifier(listener))
      }
      if let user { state.users[user, default: []].insert(ObjectIdentifier(listener)) }
      for scope in viewer.layers {
        state.listeners[scope, default: []].insert(ObjectIdentifier(listener))
      }
      if wantsHeartbeats {
        state.heartbeatListeners += 1
        if state.heartbeatTask == nil {
          state.heartbeatTask = Task.detached { await self.sendHeartbeats() }
        }
      }
      return state.hasEnded
    }
    if hasEnded { listener.wake(.end) }
    return listener
  }

  /// Removes a listener.
  package func remove(_ listener: ChangeListener) {
    state.withLock { state in
      guard let entry = state.all.removeValue(forKey: ObjectIdentifier(listener)) else { return }
      for scope in entry.viewer.layers {
        state.listeners[scope]?.remove(ObjectIdentifier(listener))
        if state.listeners[scope]?.isEmpty == true { state.listeners[scope] = nil }
      }
      entry.ending?.cancel()
      if let result = entry.result {
        state.results[result]?.remove(ObjectIdentifier(listener))
        if state.results[result]?.isEmpty == true { state.results[result] = nil }
      }
      if let device = entry.device {
        state.devices[device]?.remove(ObjectIdentifier(listener))
        if state.devices[device]?.isEmpty == true { state.devices[device] = nil }
      }
      if let user = entry.user {
        state.users[user]?.remove(ObjectIdentifier(listener))
        if state.users[user]?.isEmpty == true { state.users[user] = nil }
      }
      guard listener.wantsHeartbeats else { return }
      state.heartbeatListeners -= 1
      if state.heartbeatListeners == 0 {
        state.heartbeatTask?.cancel()
        state.heartbeatTask = nil
      }
    }
  }

  /// Wakes the listeners of a commit that has become visible.
  package func note(_ report: CommitReport) {
    let (queued, woken) = state.withLock { state -> ([ChangeListener], [ChangeListener]) in
      guard !state.all.isEmpty else { return ([], []) }
      let queues = Set(report.changes.lazy.filter(\.isOfQueue).map(\.scope))
      let queued = state.listeners(to: queues)
      // A purge of a type names no single change, so all listeners are woken.
      if report.revision != nil, !report.invalidated.isEmpty {
        let readers = state.all.values.filter { !$0.viewer.layers.isEmpty }
        return (queued, readers.map(\.listener))
      }
      let others = Set(report.changes.lazy.map(\.scope)).subtracting(queues)
      var woken = state.listeners(to: others)
      let watchers = state.watchers(of: report)
      if !watchers.isEmpty {
        let known = Set(woken.map(ObjectIdentifier.init))
        woken += watchers.subtracting(known).compactMap { state.all[$0]?.listener }
      }
      return (queued, woken)
    }
    ChangeListener.wake(queued, [.commit, .queue])
    ChangeListener.wake(woken, .commit)
  }

  /// Ends every stream because the service drains; later ones end immediately.
  package func end() {
    let listeners = state.withLock { state in
      state.hasEnded = true
      state.heartbeatTask?.cancel()
      state.heartbeatTask = nil
      return state.all.values.map(\.listener)
    }
    for listener in listeners { listener.wake(.end) }
  }

  /// Ends the listeners of a device whose token is no longer valid.
  package func end(device: String) {
    let listeners = state.withLock { state in
      (state.devices[device] ?? []).compactMap { state.all[$0]?.listener }
    }
    for listener in listeners { listener.wake(.end) }
  }

  /// Ends the listeners of a user whose account is disabled.
  func end(user: String) {
    let listeners = state.withLock { state in
      (state.users[user] ?? []).compactMap { state.all[$0]?.listener }
    }
    for listener in listeners { listener.wake(.end) }
  }

  /// The devices that have listeners, and the console's sessions.
  package var devices: Set<String> { state.withLock { Set($0.devices.keys) } }

  /// Whether ``end()`` was called.
  package var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// Wakes a listener once after a delay, unless the returned task is cancelled before.
  func alarm(_ listener: ChangeListener, after wait: Duration) -> Task<Void, Never> {
    wake(listener, .alarm, after: wait)
  }

  private func wake(
    _ listener: ChangeListener, _ wakes: WakeReasons, after wait: Duration
  ) -> Task<Void, Never> {
    Task.detached { [sleep, weak listener] in
      do { try await sleep(wait) } catch { return }
      listener?.wake(wakes)
    }
  }

  private func sendHeartbeats() async {
    while true {
      do { try await sleep(Self.heartbeatInterval) } catch { return }
      let listeners = state.withLock { $0.all.values.map(\.listener).filter(\.wantsHeartbeats) }
      for listener in listeners { listener.wake(.heartbeat) }
    }
  }
}

extension CommitReport.Change {
  /// Whether the change is in a device's queue, see ``Storage/QueueTypes``.
  fileprivate var isOfQueue: Bool { scope.kind == .device && key.type == QueueTypes.outcome }
}
