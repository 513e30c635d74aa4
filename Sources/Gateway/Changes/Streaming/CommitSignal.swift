package import Model
import Storage
import Synchronization

/// WakeReasons those who wait for commits, by scope: no data passes through here.
///
/// While anybody listens for them, one timer gives beats for all: a process whose streams are
/// quiet wakes for nothing else.
package final class CommitSignal: Sendable {
  /// Between two signs of life of a stream: proxies take a minute's silence for the end.
  package static let beatInterval: Duration = .seconds(15)

  private struct Entry {
    let listener: ChangeListener
    let viewer: Viewer
    let device: String?
    let answer: ResultKey?
    /// Ends the listener once its caller's right to listen has run out.
    let ending: Task<Void, Never>?
  }

  private struct State {
    var listeners: [Scope: Set<ObjectIdentifier>] = [:]
    var all: [ObjectIdentifier: Entry] = [:]
    /// By the id of the device in whose name they listen.
    var devices: [String: Set<ObjectIdentifier>] = [:]
    /// By the result that they show.
    var answers: [ResultKey: Set<ObjectIdentifier>] = [:]
    var beating: Task<Void, Never>?
    var beatListeners = 0
    var hasEnded = false

    func listeners(to scopes: Set<Scope>) -> [ChangeListener] {
      let touched = scopes.reduce(into: Set<ObjectIdentifier>()) {
        $0.formUnion(listeners[$1] ?? [])
      }
      return touched.compactMap { all[$0]?.listener }
    }

    /// Those that show an answer which the commit may have changed without a change of any entity: its
    /// list has other members or another order, or it is due.
    func watchers(of report: CommitReport) -> Set<ObjectIdentifier> {
      guard !answers.isEmpty else { return [] }
      guard report.invalidated.isEmpty else {
        return answers.values.reduce(into: []) { $0.formUnion($1) }
      }
      return report.changedResult.flatMap { answers[$0] } ?? []
    }
  }

  private let state = Mutex(State())
  private let sleep: @Sendable (Duration) async throws -> Void

  /// - Parameter sleep: returns after the duration, or throws where its task is cancelled.
  package init(sleep: @escaping @Sendable (Duration) async throws -> Void) {
    self.sleep = sleep
  }

  package var count: Int { state.withLock { $0.all.count } }

  /// Registers, until ``remove(_:)``. To be done before reading what is waited for.
  ///
  /// - Parameter device: the id of the device in whose name it is; ``end(device:)`` ends it. Whether
  ///   the device still is what it was is to be asked after registering, since it may have gone
  ///   before.
  /// - Parameter lifetime: after which it is ended; nil for as long as it likes.
  /// - Parameter answer: the result that the listener shows, if it shows one.
  package func listen(
    as viewer: Viewer, device: String? = nil, lifetime: Duration? = nil, hearsBeats: Bool = false,
    answer: ResultKey? = nil
  ) -> ChangeListener {
    let listener = ChangeListener(hearsBeats: hearsBeats)
    let ending = lifetime.map { wake(listener, .end, after: $0) }
    let hasEnded = state.withLock { state in
      state.all[ObjectIdentifier(listener)] = Entry(
        listener: listener, viewer: viewer, device: device, answer: answer, ending: ending)
      if let answer { state.answers[answer, default: []].insert(ObjectIdentifier(listener)) }
      if let device {
        state.devices[device, default: []].insert(ObjectIdentifier(listener))
      }
      for scope in viewer.layers {
        state.listeners[scope, default: []].insert(ObjectIdentifier(listener))
      }
      if hearsBeats {
        state.beatListeners += 1
        if state.beating == nil { state.beating = Task.detached { await self.giveBeats() } }
      }
      return state.hasEnded
    }
    if hasEnded { listener.wake(.end) }
    return listener
  }

  package func remove(_ listener: ChangeListener) {
    state.withLock { state in
      guard let entry = state.all.removeValue(forKey: ObjectIdentifier(listener)) else { return }
      for scope in entry.viewer.layers {
        state.listeners[scope]?.remove(ObjectIdentifier(listener))
        if state.listeners[scope]?.isEmpty == true { state.listeners[scope] = nil }
      }
      entry.ending?.cancel()
      if let answer = entry.answer {
        state.answers[answer]?.remove(ObjectIdentifier(listener))
        if state.answers[answer]?.isEmpty == true { state.answers[answer] = nil }
      }
      if let device = entry.device {
        state.devices[device]?.remove(ObjectIdentifier(listener))
        if state.devices[device]?.isEmpty == true { state.devices[device] = nil }
      }
      guard listener.hearsBeats else { return }
      state.beatListeners -= 1
      if state.beatListeners == 0 {
        state.beating?.cancel()
        state.beating = nil
      }
    }
  }

  /// A commit is visible.
  package func note(_ report: CommitReport) {
    let (queued, woken) = state.withLock { state -> ([ChangeListener], [ChangeListener]) in
      guard !state.all.isEmpty else { return ([], []) }
      let queues = Set(report.changes.lazy.filter(\.isOfQueue).map(\.scope))
      let queued = state.listeners(to: queues)
      // A purge of a type names no single change: everybody looks.
      if report.revision != nil, !report.invalidated.isEmpty {
        return (queued, state.all.values.map(\.listener))
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

  /// The service drains: every stream ends, and later ones end at once.
  package func end() {
    let listeners = state.withLock { state in
      state.hasEnded = true
      state.beating?.cancel()
      state.beating = nil
      return state.all.values.map(\.listener)
    }
    for listener in listeners { listener.wake(.end) }
  }

  /// The device's token stands for it no more: whoever listens in its name is to go.
  func end(device: String) {
    let listeners = state.withLock { state in
      (state.devices[device] ?? []).compactMap { state.all[$0]?.listener }
    }
    for listener in listeners { listener.wake(.end) }
  }

  package var hasEnded: Bool { state.withLock { $0.hasEnded } }

  /// WakeReasons a listener once, after a while, unless the task is cancelled before.
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

  private func giveBeats() async {
    while true {
      do { try await sleep(Self.beatInterval) } catch { return }
      let listeners = state.withLock { $0.all.values.map(\.listener).filter(\.hearsBeats) }
      for listener in listeners { listener.wake(.beat) }
    }
  }
}

extension CommitReport.Change {
  /// Of a device's queue, see ``Storage/QueueTypes``.
  fileprivate var isOfQueue: Bool { scope.kind == .device && key.type == QueueTypes.outcome }
}
