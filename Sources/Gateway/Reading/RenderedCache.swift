import DequeModule
package import Model
import Synchronization

/// Rendered answers under a byte budget, dropped by dependency when a commit touches them.
///
/// Between reading the store and remembering what was rendered, a commit may pass. So a reader
/// takes a ``Ticket`` first; commits are noted for as long as an older ticket is out, and an answer
/// that one of them touched is not remembered. An answer remembered is therefore right at every
/// head that is published after its commit was noted here.
package final class RenderedCache: Sendable {
  /// Proof of having looked at the commits before reading.
  package struct Ticket: Sendable {
    fileprivate let number: UInt64
  }

  /// What a commit touched.
  private struct Touch {
    let number: UInt64
    let revision: Revision?
    /// In scopes that shared answers are made of.
    var entities: Set<EntityKey> = []
    /// In the scope of a device alone.
    var ofDevices: [String: Set<EntityKey>] = [:]
    var types: Set<String> = []
    var operations: Set<String> = []
    var tags: Set<String> = []

    func touches(_ dependencies: RenderedResponse.Dependencies) -> Bool {
      operations.contains(dependencies.operation)
        || !tags.isDisjoint(with: dependencies.tags)
        || !types.isDisjoint(with: dependencies.types)
        || (!entities.isEmpty && dependencies.entities.contains { entities.contains($0) })
        || touchesDevice(dependencies)
    }

    private func touchesDevice(_ dependencies: RenderedResponse.Dependencies) -> Bool {
      guard let device = dependencies.device, let touched = ofDevices[device] else { return false }
      return dependencies.entities.contains { touched.contains($0) }
    }
  }

  private struct State {
    var answers: [ResultKey: RenderedResponse] = [:]
    var byEntity: [EntityKey: Set<ResultKey>] = [:]
    /// Answers with a device's overlays, by the shared ones that they were made beside.
    var byBasis: [ResultKey: Set<ResultKey>] = [:]
    /// Second-chance order of eviction; may hold keys that are gone, each key once.
    var order: Deque<ResultKey> = []
    var ordered: Set<ResultKey> = []
    var byteCount = 0
    var number: UInt64 = 0
    var tickets: [UInt64: Int] = [:]
    var recent: Deque<Touch> = []
  }

  private let byteLimit: Int
  private let state = Mutex(State())

  /// - Parameter byteLimit: what the answers may take in memory together; nothing is remembered
  ///   with 0.
  package init(byteLimit: Int) {
    self.byteLimit = byteLimit
  }

  package var byteCount: Int { state.withLock { $0.byteCount } }
  package var count: Int { state.withLock { $0.answers.count } }
  /// Keys in the line of eviction, some of which may be of answers that are gone.
  var lineLength: Int { state.withLock { $0.order.count } }

  package func answer(for key: ResultKey) -> RenderedResponse? {
    let answer = state.withLock { $0.answers[key] }
    answer?.touch()
    return answer
  }

  /// Before the store is read. Every ticket ends in ``remember(_:ticket:)`` or ``release(_:)``.
  package func ticket() -> Ticket {
    state.withLock { state in
      state.tickets[state.number, default: 0] += 1
      return Ticket(number: state.number)
    }
  }

  package func release(_ ticket: Ticket) {
    state.withLock { Self.end(ticket, in: &$0) }
  }

  /// Keeps the answer unless a commit since the ticket touched it, in which case it is told that
  /// it is not current any more.
  ///
  /// - Parameter own: the commit that the answer was rendered after, if that came behind the ticket.
  package func remember(_ answer: RenderedResponse, ticket: Ticket, own: Revision? = nil) {
    state.withLock { state in
      let touched = state.recent.contains { touch in
        touch.number > ticket.number && (own == nil || touch.revision != own)
          && touch.touches(answer.dependencies)
      }
      Self.end(ticket, in: &state)
      let isBasisGone = answer.basisKey.map { state.answers[$0]?.tag != answer.basis } ?? false
      guard !touched, !isBasisGone, answer.byteCount <= byteLimit / 4 else {
        answer.expire()
        return
      }
      if let old = state.answers[answer.key] { Self.remove(old, from: &state) }
      state.answers[answer.key] = answer
      state.byteCount += answer.byteCount
      if state.ordered.insert(answer.key).inserted { state.order.append(answer.key) }
      for entity in answer.dependencies.entities {
        state.byEntity[entity, default: []].insert(answer.key)
      }
      if let basis = answer.basisKey { state.byBasis[basis, default: []].insert(answer.key) }
      evict(&state)
      Self.tidy(&state)
    }
  }

  /// The line keeps its places for keys whose answers a commit dropped, since they mostly come back.
  /// Those that do not would stay for ever, with the variables that are a part of them.
  private static func tidy(_ state: inout State) {
    guard state.order.count > 2 * state.answers.count + lineSlack else { return }
    state.order.removeAll { state.answers[$0] == nil }
    state.ordered = Set(state.order)
  }

  private static let lineSlack = 64

  /// Drops one answer, whatever it shows.
  package func drop(_ key: ResultKey) {
    state.withLock { state in
      if let old = state.answers[key] { Self.remove(old, from: &state) }
    }
  }

  /// A commit passed: what it touched is dropped before its revision is published.
  package func note(_ report: CommitReport) {
    guard !report.changes.isEmpty || !report.invalidated.isEmpty else { return }
    state.withLock { state in
      state.number += 1
      let touch = Self.touch(of: report, number: state.number)
      for entity in touch.entities {
        for key in state.byEntity[entity] ?? [] {
          if let answer = state.answers[key] { Self.remove(answer, from: &state) }
        }
      }
      for (device, entities) in touch.ofDevices {
        for key in entities.flatMap({ state.byEntity[$0] ?? [] }) {
          guard let answer = state.answers[key], answer.dependencies.device == device else {
            continue
          }
          Self.remove(answer, from: &state)
        }
      }
      if !touch.types.isEmpty || !touch.operations.isEmpty || !touch.tags.isEmpty {
        for answer in Array(state.answers.values) where touch.touches(answer.dependencies) {
          Self.remove(answer, from: &state)
        }
      }
      if !state.tickets.isEmpty { state.recent.append(touch) }
    }
  }

  private static func touch(of report: CommitReport, number: UInt64) -> Touch {
    var touch = Touch(number: number, revision: report.revision)
    for change in report.changes {
      if change.scope.kind == .device {
        touch.ofDevices[change.scope.subject, default: []].insert(change.key)
      } else {
        touch.entities.insert(change.key)
      }
    }
    for target in report.invalidated {
      switch target {
      case .entity(let key): touch.entities.insert(key)
      case .type(let name): touch.types.insert(name)
      case .operation(let name): touch.operations.insert(name)
      case .tag(let name): touch.tags.insert(name)
      }
    }
    return touch
  }

  private static func end(_ ticket: Ticket, in state: inout State) {
    guard let count = state.tickets[ticket.number] else { return }
    state.tickets[ticket.number] = count > 1 ? count - 1 : nil
    guard let oldest = state.tickets.keys.min() else {
      state.recent.removeAll()
      return
    }
    while let first = state.recent.first, first.number <= oldest { state.recent.removeFirst() }
  }

  private static func remove(_ answer: RenderedResponse, from state: inout State) {
    answer.expire()
    state.answers[answer.key] = nil
    state.byteCount -= answer.byteCount
    for entity in answer.dependencies.entities {
      state.byEntity[entity]?.remove(answer.key)
      if state.byEntity[entity]?.isEmpty == true { state.byEntity[entity] = nil }
    }
    if let basis = answer.basisKey {
      state.byBasis[basis]?.remove(answer.key)
      if state.byBasis[basis]?.isEmpty == true { state.byBasis[basis] = nil }
    }
    // Whoever watches one of these is not told of a list with other members by any entity in it.
    for key in state.byBasis.removeValue(forKey: answer.key) ?? [] {
      if let overlaid = state.answers[key] { remove(overlaid, from: &state) }
    }
  }

  /// Second chance: what was used since it was last looked at goes to the end of the line once.
  private func evict(_ state: inout State) {
    while state.byteCount > byteLimit, let key = state.order.popFirst() {
      guard let answer = state.answers[key] else {
        state.ordered.remove(key)
        continue
      }
      if answer.takeUse() {
        state.order.append(key)
      } else {
        state.ordered.remove(key)
        Self.remove(answer, from: &state)
      }
    }
  }
}
