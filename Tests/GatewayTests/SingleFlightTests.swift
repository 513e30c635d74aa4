import Gateway
import Synchronization
import TestSupport
import Testing

struct SingleFlightTests {
  /// Holds the work until the test opens it.
  private actor Gate {
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func pass() async {
      if isOpen { return }
      await withCheckedContinuation { waiting.append($0) }
    }

    func open() {
      isOpen = true
      for continuation in waiting { continuation.resume() }
      waiting = []
    }
  }

  @Test("Work runs once for all concurrent callers")
  func runsOnceForConcurrentCallers() async {
    let flights = SingleFlight<String, Int>()
    let gate = Gate()
    let runs = Atomic(0)
    let joined = (0..<1_000).map { _ in
      flights.join("film 1") {
        await gate.pass()
        return runs.wrappingAdd(1, ordering: .relaxed).newValue
      }
    }
    #expect(joined.filter(\.isNew).count == 1)
    #expect(flights.count == 1)
    await gate.open()
    for (task, _) in joined { #expect(await task.value == 1) }
    #expect(runs.load(ordering: .relaxed) == 1)
  }

  @Test("A new run begins once the previous one has ended")
  func beginsAgainAfterTheEnd() async {
    let flights = SingleFlight<String, Int>()
    #expect(await flights.join("a", work: { 1 }).task.value == 1)
    #expect(flights.count == 0)
    #expect(await flights.join("a", work: { 2 }).task.value == 2)
  }

  @Test("A run continues when the caller who began it is cancelled")
  func continuesWithoutItsFirstCaller() async {
    let flights = SingleFlight<String, Bool>()
    let gate = Gate()
    let first = Task {
      await flights.join("a") {
        await gate.pass()
        return Task.isCancelled
      }.task.value
    }
    #expect(await eventuallyHolds { flights.count > 0 })
    first.cancel()
    let second = flights.join("a") { true }
    #expect(!second.isNew)
    await gate.open()
    #expect(await second.task.value == false)
  }

  @Test("A forgotten run does not end the next one")
  func forgottenRunDoesNotEndTheNext() async {
    let flights = SingleFlight<String, Int>()
    let gate = Gate()
    let old = flights.join("a") {
      await gate.pass()
      return 1
    }
    flights.forget("a")
    let secondGate = Gate()
    let new = flights.join("a") {
      await secondGate.pass()
      return 2
    }
    #expect(new.isNew)
    await gate.open()
    #expect(await old.task.value == 1)
    #expect(flights.count == 1)
    await secondGate.open()
    #expect(await new.task.value == 2)
  }
}
