import DequeModule
package import Model
import Synchronization

/// Rendered responses under a byte budget, dropped by dependency when a commit touches them.
///
/// A commit can pass between reading the store and remembering the rendered response. So a reader
/// takes a ``Ticket`` first; commits are noted for as long as an older ticket is open, and a response
/// that one of them touched is not remembered. A remembered response is therefore correct at every
/// head that is published after its commit was noted here.
package final class RenderedCache: Sendable {
  /// Proof that the commits were checked before the store was read.
  package struct Ticket: Sendable {
    fileprivate let number: UInt64
  }

  /// The entities, types, operations and tags that a commit touched.
  private struct Touch {
    let number: UInt64
    let revision: Revision?
    /// In scopes that shared responses are rendered from.
    var entities: Set<EntityKey> = []
    /// In the scope of a device, by device.
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
    var responses: [ResultKey: RenderedResponse] = [:]
    var byEntity: [EntityKey: Set<ResultKey>] = [:]
    /// Responses with a device's overlays, by the shared ones that they were derived from.
    var byBasis: [ResultKey: Set<ResultKey>] = [:]
    /// Second-chance order of eviction; can hold keys that were dropped, each key once.
    var order: Deque<ResultKey> = []
    var ordered: Set<ResultKey> = []
    var byteCount = 0
    var number: UInt64 = 0
    var tickets: [UInt64: Int] = [:]
    var recent: Deque<Touch> = []
  }

  private let byteLimit: Int
  private let state = Mutex(State())

  /// - Parameter byteLimit: the memory that all responses can take together; with 0 nothing is
  ///   remembered.
  package init(byteLimit: Int) {
    self.byteLimit = byteLimit
  }

  package var byteCount: Int { state.withLock { $0.byteCount } }
  package var count: Int { state.withLock { $0.responses.count } }
  /// The length of the eviction queue, which can hold keys of dropped responses.
  var evictionQueueLength: Int { state.withLock { $0.order.count } }

  /// Returns the current response for the key; nil if there is none.
  package func response(for key: ResultKey) -> RenderedResponse? {
    let response = state.withLock { $0.responses[key] }
    response?.touch()
    return response
  }

  /// Opens a ticket. Must be called before the store is read. Every ticket ends in
  /// ``remember(_:ticket:own:)`` or ``release(_:)``.
  package func ticket() -> Ticket {
    state.withLock { state in
      state.tickets[state.number, default: 0] += 1
      return Ticket(number: state.number)
    }
  }

  /// Ends a ticket without remembering anything.
  package func release(_ ticket: Ticket) {
    state.withLock { Self.end(ticket, in: &$0) }
  }

  /// Keeps the response unless a commit since the ticket touched it, in which case the response is
  /// marked as no longer current.
  ///
  /// - Parameter own: the commit that the response was rendered after, if that is newer than the
  ///   ticket.
  package func remember(_ response: RenderedResponse, ticket: Ticket, own: Revision? = nil) {
    state.withLock { state in
      let touched = state.recent.contains { touch in
        touch.number > ticket.number && (own == nil || touch.revision != own)
          && touch.touches(response.dependencies)
      }
      Self.end(ticket, in: &state)
      let isBasisGone =
        response.basisKey.map { state.responses[$0]?.tag != response.basis } ?? false
      guard !touched, !isBasisGone, response.byteCount <= byteLimit / 4 else {
        response.expire()
        return
      }
      if let old = state.responses[response.key] { Self.remove(old, from: &state) }
      state.responses[response.key] = response
      state.byteCount += response.byteCount
      if state.ordered.insert(response.key).inserted { state.order.append(response.key) }
      for entity in response.dependencies.entities {
        state.byEntity[entity, default: []].insert(response.key)
      }
      if let basis = response.basisKey { state.byBasis[basis, default: []].insert(response.key) }
      evict(&state)
      Self.tidy(&state)
    }
  }

  /// Shrinks the eviction queue. It keeps the places of keys whose responses a commit dropped, since
  /// most of them return; those that do not would otherwise stay forever, with their variables.
  private static func tidy(_ state: inout State) {
    guard state.order.count > 2 * state.responses.count + evictionQueueSlack else { return }
    state.order.removeAll { state.responses[$0] == nil }
    state.ordered = Set(state.order)
  }

  private static let evictionQueueSlack = 64

  /// Drops one response.
  package func drop(_ key: ResultKey) {
    state.withLock { state in
      if let old = state.responses[key] { Self.remove(old, from: &state) }
    }
  }

  /// Drops everything that a commit touched. Must be called before its revision is published.
  package func note(_ report: CommitReport) {
    guard !report.changes.isEmpty || !report.invalidated.isEmpty else { return }
    state.withLock { state in
      state.number += 1
      let touch = Self.touch(of: report, number: state.number)
      for entity in touch.entities {
        for key in state.byEntity[entity] ?? [] {
          if let response = state.responses[key] { Self.remove(response, from: &state) }
        }
      }
      for (device, entities) in touch.ofDevices {
        for key in entities.flatMap({ state.byEntity[$0] ?? [] }) {
          guard let response = state.responses[key], response.dependencies.device == device else {
            continue
          }
          Self.remove(response, from: &state)
        }
      }
      if !touch.types.isEmpty || !touch.operations.isEmpty || !touch.tags.isEmpty {
        for response in Array(state.responses.values) where touch.touches(response.dependencies) {
          Self.remove(response, from: &state)
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
      } else if !change.scope.isOwnData {
        // No response is rendered from own data: local fields of one user drop nothing that others see.
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

  private static func remove(_ response: RenderedResponse, from state: inout State) {
    response.expire()
    state.responses[response.key] = nil
    state.byteCount -= response.byteCount
    for entity in response.dependencies.entities {
      state.byEntity[entity]?.remove(response.key)
      if state.byEntity[entity]?.isEmpty == true { state.byEntity[entity] = nil }
    }
    if let basis = response.basisKey {
      state.byBasis[basis]?.remove(response.key)
      if state.byBasis[basis]?.isEmpty == true { state.byBasis[basis] = nil }
    }
    // A list with other members touches no entity of an overlaid response, so it is dropped here.
    for key in state.byBasis.removeValue(forKey: response.key) ?? [] {
      if let overlaid = state.responses[key] { remove(overlaid, from: &state) }
    }
  }

  /// Evicts by second chance: a response that was used since the last check is requeued once.
  private func evict(_ state: inout State) {
    while state.byteCount > byteLimit, let key = state.order.popFirst() {
      guard let response = state.responses[key] else {
        state.ordered.remove(key)
        continue
      }
      if response.takeUse() {
        state.order.append(key)
      } else {
        state.ordered.remove(key)
        Self.remove(response, from: &state)
      }
    }
  }
}
