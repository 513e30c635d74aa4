import Model
import Testing

@testable import Gateway

struct CallSequenceTests {
  @Test("Call numbers continue after the highest stored one")
  func continuesAfterTheHighestStoredNumber() {
    let calls = CallSequence(after: CallNumber(41))
    #expect(calls.begin() == CallNumber(42))
    #expect(calls.begin() == CallNumber(43))
    #expect(calls.begin() == CallNumber(44))
  }

  @Test("The horizon is the oldest call in flight")
  func horizonIsTheOldestCallInFlight() {
    let calls = CallSequence(after: .none)
    let first = calls.begin()
    let second = calls.begin()
    #expect(calls.horizon(of: second) == first)
    calls.end(first)
    #expect(calls.horizon(of: second) == second)
    calls.end(second)
    let third = calls.begin()
    #expect(calls.horizon(of: third) == third)
  }

  // MARK: Mutations

  private static let film = EntityKey(type: "Film", key: "1")

  private static func settle(
    _ start: MutationStart, _ calls: CallSequence, in scope: Scope = .public,
    writes: Set<EntityKey> = [film], key: String? = nil
  ) -> MutationSpan {
    let settled = calls.settle(start, in: scope, writes: writes, key: key)
    calls.end(settled.call)
    calls.end(start)
    return settled.span
  }

  @Test("A mutation that began later and settled earlier overtakes")
  func nestedMutationOvertakes() {
    let calls = CallSequence(after: .none)
    let outer = calls.beginMutation(head: Revision(1))
    let inner = calls.beginMutation(head: Revision(1))
    #expect(Self.settle(inner, calls).disputed.isEmpty)
    let span = Self.settle(outer, calls)
    #expect(span.overtaken == [Self.film])
    #expect(span.disputed == [Self.film])
  }

  @Test("Crossing mutations are disputed, but neither is overtaken")
  func crossingMutationsAreDisputed() {
    let calls = CallSequence(after: .none)
    let first = calls.beginMutation(head: Revision(1))
    let second = calls.beginMutation(head: Revision(1))
    #expect(Self.settle(first, calls).disputed.isEmpty)
    let span = Self.settle(second, calls)
    #expect(span.overtaken.isEmpty)
    #expect(span.disputed == [Self.film])
  }

  @Test("Mutations of other objects, scopes or times are not disputed")
  func unrelatedMutationsAreNotDisputed() {
    let calls = CallSequence(after: .none)
    let outer = calls.beginMutation(head: Revision(1))
    let inner = calls.beginMutation(head: Revision(1))
    #expect(
      Self.settle(inner, calls, writes: [EntityKey(type: "Film", key: "2")]).disputed.isEmpty)
    let other = calls.beginMutation(head: Revision(1))
    #expect(Self.settle(other, calls, in: .user("u")).disputed.isEmpty)
    #expect(Self.settle(outer, calls).disputed.isEmpty)
    let after = calls.beginMutation(head: Revision(1))
    #expect(Self.settle(after, calls).disputed.isEmpty)
  }

  /// Overtaken entities are written under the start's number, which no horizon can have passed.
  @Test("The horizon waits for a mutation until it is stored")
  func horizonWaitsForStoredMutation() {
    let calls = CallSequence(after: .none)
    let outer = calls.beginMutation(head: Revision(1))
    let query = calls.begin()
    #expect(calls.horizon(of: query) == CallNumber(1))
    calls.end(query)
    let inner = calls.beginMutation(head: Revision(1))
    _ = Self.settle(inner, calls)
    let settled = calls.settle(outer, in: .public, writes: [Self.film])
    #expect(settled.horizon == settled.span.start)
    calls.end(settled.call)
    #expect(calls.horizon(of: CallNumber(99)) == CallNumber(1))
    calls.end(outer)
    #expect(calls.horizon(of: CallNumber(99)) == CallNumber(99))
  }

  @Test("A repeated mutation counts from its first attempt")
  func repeatedMutationCountsFromFirstAttempt() {
    let calls = CallSequence(after: CallNumber(10), head: Revision(5))
    let first = calls.beginMutation(head: Revision(6), key: "m")
    calls.end(first)
    let between = calls.beginMutation(head: Revision(6))
    _ = Self.settle(between, calls)
    let again = calls.beginMutation(head: Revision(7), key: "m", isRepeated: true)
    let span = Self.settle(again, calls, key: "m")
    #expect(span.start == CallNumber(11))
    #expect(span.head == Revision(6))
    #expect(span.isRepeated)
    #expect(span.disputed.isEmpty)
    // For one that was first sent before the process began, the overlaps are unknown.
    let unknown = calls.beginMutation(head: Revision(8), key: "n", isRepeated: true)
    let old = Self.settle(unknown, calls, key: "n")
    #expect(old.start == CallNumber(10))
    #expect(old.head == Revision(5))
    #expect(old.disputed == [Self.film])
  }

  @Test("Consecutive call numbers leave no room for another call, and hold its horizon")
  func numbersRuns() {
    let calls = CallSequence(after: CallNumber(10))
    let run = calls.beginRun(of: 3)
    #expect((0..<3).map { run[$0].call.value } == [11, 12, 13])
    #expect((0..<3).map { run[$0].horizon.value } == [11, 12, 13])
    let query = calls.begin()
    #expect(query.value == 14)
    #expect(calls.horizon(of: query).value == 11, "the run can still be written")
    let other = calls.beginRun(of: 2)
    #expect((0..<2).map { other[$0].horizon.value } == [11, 11])
    calls.end(run)
    calls.end(other)
    #expect(calls.horizon(of: query).value == 14)
    #expect(calls.begin().value == 17)
  }
}
