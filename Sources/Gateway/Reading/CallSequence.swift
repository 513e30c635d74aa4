package import Model
import Synchronization

/// Issues ``CallNumber``s and tracks which calls are in flight and which mutations overlap.
///
/// The numbers continue from the highest one in the store, so a restart never issues a number
/// twice, and no clock is needed. Calls in flight are kept in memory only: a call does not survive
/// its process.
package final class CallSequence: Sendable {
  /// A mutation that settled while another was in flight.
  private struct Settled {
    let start: Int64
    let number: Int64
    let scope: Scope
    let writes: Set<EntityKey>
  }

  private struct Origin {
    let number: Int64
    let head: Revision
  }

  private struct State {
    var last: Int64
    var inFlight: Set<Int64> = []
    /// Starts of the mutations in flight.
    var mutations: Set<Int64> = []
    /// In the order of their numbers; none is older than the oldest mutation in flight.
    var settled: [Settled] = []
    /// First attempts of mutations that can be repeated, by the mutations' keys.
    var origins: [String: Origin] = [:]

    mutating func next() -> Int64 {
      last += 1
      inFlight.insert(last)
      return last
    }

    mutating func prune() {
      guard let oldest = mutations.min() else {
        settled = []
        return
      }
      settled.removeAll { $0.number < oldest }
    }
  }

  /// The maximum number of first attempts that are remembered. For a forgotten one, everything
  /// stored since the process began counts as later.
  private static let originsMax = 10_000

  private let state: Mutex<State>
  /// The origin of a mutation that was first sent before the process began.
  private let boot: Origin

  /// - Parameters:
  ///   - last: the highest number found in the store.
  ///   - head: the store's head now.
  package init(after last: CallNumber, head: Revision = Revision(0)) {
    state = Mutex(State(last: last.value))
    boot = Origin(number: last.value, head: head)
  }

  /// Begins a query, or settles a purge or an invalidation, with a number higher than that of
  /// every call begun before. Every call must be ended once it is in the store, whatever its
  /// outcome: until then no horizon passes it.
  package func begin() -> CallNumber {
    state.withLock { CallNumber($0.next()) }
  }

  /// Begins a run of calls whose responses are already there and are written together, in this order.
  /// No other call has a number between theirs. It must be ended once it is in the store.
  func beginRun(of count: Int) -> CallRun {
    state.withLock { state in
      let older = state.inFlight.min()
      let first = state.next()
      state.last += Int64(count - 1)
      return CallRun(first: first, count: count, oldest: older)
    }
  }

  /// Ends a run of calls.
  func end(_ run: CallRun) {
    state.withLock { _ = $0.inFlight.remove(run.first) }
  }

  /// Ends a call that ``begin()`` or ``settle(_:in:writes:key:)`` returned.
  package func end(_ call: CallNumber) {
    state.withLock { _ = $0.inFlight.remove(call.value) }
  }

  /// Returns the oldest call in flight, or `call` itself if none is older.
  package func horizon(of call: CallNumber) -> CallNumber {
    state.withLock { state in
      CallNumber(state.inFlight.min().map { min($0, call.value) } ?? call.value)
    }
  }

  // MARK: Mutations

  /// Begins a mutation whose request is about to be sent. It must be ended like every call.
  ///
  /// - Parameters:
  ///   - head: the store's head.
  ///   - key: identifies a mutation that can be sent more than once.
  ///   - isRepeated: an earlier attempt may have reached upstream.
  func beginMutation(
    head: Revision, key: String? = nil, isRepeated: Bool = false
  ) -> MutationStart {
    state.withLock { state in
      let number = state.next()
      state.mutations.insert(number)
      let own = Origin(number: number, head: head)
      let known = isRepeated ? key.flatMap { state.origins[$0] } : own
      let origin = known ?? boot
      if !isRepeated, let key {
        if state.origins.count >= Self.originsMax { state.origins = [:] }
        state.origins[key] = own
      }
      return MutationStart(
        number: CallNumber(number), origin: CallNumber(origin.number), head: origin.head,
        isRepeated: isRepeated, isOriginKnown: known != nil)
    }
  }

  /// Settles a mutation whose response has arrived: issues the number that its effects are stored
  /// under.
  ///
  /// Overlaps are determined here and not in the store, so that they do not depend on the order in
  /// which the two mutations are written.
  ///
  /// - Parameters:
  ///   - scope: the response's scope.
  ///   - writes: every entity that the response shows or the mutation deletes.
  ///   - key: see ``beginMutation(head:key:isRepeated:)``.
  /// - Returns: the number, which must be ended in addition to the start; the oldest call whose
  ///   response can still arrive; and the overlaps.
  package func settle(
    _ start: MutationStart, in scope: Scope, writes: Set<EntityKey>, key: String? = nil
  ) -> (call: CallNumber, horizon: CallNumber, span: MutationSpan) {
    state.withLock { state in
      let number = state.next()
      if let key { state.origins[key] = nil }
      var overtaken: Set<EntityKey> = []
      var disputed: Set<EntityKey> = start.isOriginKnown ? [] : writes
      for other in state.settled where other.number > start.origin.value && other.scope == scope {
        let common = other.writes.intersection(writes)
        disputed.formUnion(common)
        if other.start > start.origin.value { overtaken.formUnion(common) }
      }
      state.settled.append(
        Settled(start: start.origin.value, number: number, scope: scope, writes: writes))
      // Overtaken entities are written under the start's number, so that call still counts.
      let own = overtaken.isEmpty ? start.number.value : nil
      let horizon = state.inFlight.filter { $0 != own }.min() ?? number
      return (
        CallNumber(number), CallNumber(horizon),
        MutationSpan(
          start: start.origin, head: start.head, isRepeated: start.isRepeated,
          overtaken: overtaken, disputed: disputed)
      )
    }
  }

  /// Ends a mutation whose effects are in the store, or that has none.
  package func end(_ start: MutationStart) {
    state.withLock { state in
      state.inFlight.remove(start.number.value)
      state.mutations.remove(start.number.value)
      state.prune()
    }
  }
}

/// Consecutive call numbers. The first one stands for all of them among the calls in flight.
struct CallRun: Sendable {
  let first: Int64
  let count: Int
  /// The oldest call that was in flight before; nil if there was none.
  let oldest: Int64?

  /// The number of one of the calls, and the oldest call whose response can still arrive when that call
  /// is written after those before it.
  subscript(index: Int) -> (call: CallNumber, horizon: CallNumber) {
    let number = first + Int64(index)
    return (CallNumber(number), CallNumber(oldest ?? number))
  }
}

/// A mutation's place in the order of calls, from before its request is sent until its effects are
/// stored.
package struct MutationStart: Sendable {
  /// In flight until ``CallSequence/end(_:)``.
  let number: CallNumber
  /// The number of the first attempt; ``number`` unless the request is repeated.
  let origin: CallNumber
  /// The store's head at the first attempt.
  let head: Revision
  let isRepeated: Bool
  /// False for one that was first sent before the process began: then its overlaps are unknown.
  let isOriginKnown: Bool
}

extension NormalisedResponse {
  /// Returns a mutation's response with its place in the order of calls. Its ``call`` must be ended
  /// once the response is stored.
  ///
  /// - Parameter key: see ``CallSequence/beginMutation(head:key:isRepeated:)``.
  func settled(
    _ start: MutationStart, by calls: CallSequence, key: String? = nil
  ) -> NormalisedResponse {
    let writes = Set(entities.map(\.key)).union(deletions)
    let place = calls.settle(start, in: scope, writes: writes, key: key)
    var settled = self
    settled.call = place.call
    settled.horizon = place.horizon
    settled.span = place.span
    return settled
  }
}

/// A counter of settled mutations and purges. A read that arrives after one does not join a flight
/// that began before it, so a client reads its own writes.
package final class MutationEpoch: Sendable {
  private let count = Atomic<Int64>(0)

  package init() {}

  package var value: Int64 { count.load(ordering: .acquiring) }

  package func advance() {
    count.wrappingAdd(1, ordering: .acquiringAndReleasing)
  }
}
