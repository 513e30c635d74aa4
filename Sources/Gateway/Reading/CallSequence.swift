package import Model
import Synchronization

/// Hands out ``CallNumber``s, and knows which calls are still in flight and which mutations overlap.
///
/// The numbers continue from the highest one the store has seen, so a restart never gives a number
/// twice and no clock is asked. What is in flight lives in memory alone: a call does not survive
/// its process.
package final class CallSequence: Sendable {
  /// A mutation that has settled while another was under way.
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
    /// Starts of the mutations under way.
    var mutations: Set<Int64> = []
    /// In the order of their numbers; none is older than the oldest mutation under way.
    var settled: [Settled] = []
    /// First attempts of mutations that may be repeated, by the mutations' keys.
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

  /// First attempts remembered at once. Of one that is forgotten, everything stored since the
  /// process began counts as later.
  private static let originsMax = 10_000

  private let state: Mutex<State>
  /// Of a mutation that was first sent before the process began.
  private let boot: Origin

  /// - Parameters:
  ///   - last: the highest number found in the store.
  ///   - head: the store's head now.
  package init(after last: CallNumber, head: Revision = Revision(0)) {
    state = Mutex(State(last: last.value))
    boot = Origin(number: last.value, head: head)
  }

  /// A query starts; or a purge or an invalidation settles, with a number higher than that of
  /// everything begun before. Every begun call must be ended once it is in the store, whatever
  /// becomes of it: until then no horizon passes it.
  package func begin() -> CallNumber {
    state.withLock { CallNumber($0.next()) }
  }

  package func end(_ call: CallNumber) {
    state.withLock { _ = $0.inFlight.remove(call.value) }
  }

  /// The oldest call in flight, or `call` itself where nothing older is.
  package func horizon(of call: CallNumber) -> CallNumber {
    state.withLock { state in
      CallNumber(state.inFlight.min().map { min($0, call.value) } ?? call.value)
    }
  }

  // MARK: Mutations

  /// A mutation's request is about to leave. To be ended like every call.
  ///
  /// - Parameters:
  ///   - head: the store's.
  ///   - key: names a mutation that may be sent more than once.
  ///   - isRepeated: an earlier attempt may have reached upstream.
  package func beginMutation(
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

  /// A mutation's response is there: it takes the number that its effects are stored under.
  ///
  /// Whom it overlaps is judged here and not in the store, so that it does not depend on the order
  /// in which the two are written.
  ///
  /// - Parameters:
  ///   - scope: the responses'.
  ///   - writes: every entity that the response shows or the mutation deletes.
  ///   - key: see ``beginMutation(head:key:isRepeated:)``.
  /// - Returns: the number, to be ended beside the start; the oldest call whose response may still
  ///   come; and what overlapped.
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
      // What is overtaken is written under the start's number, so that one is still to come.
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

  /// The mutation's effects are in the store, or there are none.
  package func end(_ start: MutationStart) {
    state.withLock { state in
      state.inFlight.remove(start.number.value)
      state.mutations.remove(start.number.value)
      state.prune()
    }
  }
}
