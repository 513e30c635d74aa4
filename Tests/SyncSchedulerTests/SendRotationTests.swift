import Model
import SyncScheduler
import Testing

struct SendRotationTests {
  static let start = Timestamp(milliseconds: 1_000_000_000)

  @Test("A device with thousands of mutations takes turns with a device with one")
  func devicesTakeTurns() {
    let rotation = RotationBench(concurrencyMax: 1)
    rotation.note("many", place: 1)
    for number in 0..<3 {
      rotation.note("one\(number)", place: 100)
    }
    var served: [String] = []
    for _ in 0..<6 {
      guard let turn = rotation.next(at: Self.start) else { break }
      served.append(turn.device)
      rotation.ended(turn, as: .applied(created: [:]), at: Self.start)
      if turn.device == "many" { rotation.note("many", place: 2) }
    }
    #expect(served == ["many", "one0", "one1", "one2", "many", "many"])
  }

  @Test("Requests in flight are limited for each upstream")
  func limitsInFlight() throws {
    let rotation = RotationBench(concurrencyMax: 2)
    for number in 0..<4 {
      rotation.note("d\(number)", place: Int64(number))
    }
    rotation.note("e", place: 9, upstream: "other")
    let turns = (0..<5).compactMap { _ in rotation.next(at: Self.start) }
    #expect(turns.map(\.device) == ["d0", "d1", "e"])
    rotation.ended(turns[0], as: .transient(retryAfter: nil), at: Self.start)
    #expect(rotation.next(at: Self.start)?.device == "d2")
  }

  @Test("An upstream that fails for every device is probed by one of them")
  func relievesAFailingUpstream() throws {
    let rotation = RotationBench(concurrencyMax: 8)
    for device in 0..<1_000 { rotation.note("d\(device)", place: Int64(device)) }
    var asked = 0
    while let turn = rotation.next(at: Self.start), asked < 1_000 {
      asked += 1
      rotation.ended(
        turn, as: asked.isMultiple(of: 2) ? .unknown : .transient(retryAfter: nil),
        at: Self.start)
    }
    #expect(asked == 32)
    let wake = try #require(rotation.wake)
    #expect(Self.start.elapsed(until: wake) == .seconds(5))
    let probe = try #require(rotation.next(at: wake))
    #expect(rotation.next(at: wake) == nil)
    rotation.ended(probe, as: .unknown, at: wake)
    #expect(rotation.next(at: wake) == nil)
    // One success ends it.
    let later = wake.advanced(by: .seconds(5))
    let next = try #require(rotation.next(at: later))
    rotation.ended(next, as: .applied(created: [:]), at: later)
    #expect(rotation.next(at: later) != nil && rotation.next(at: later) != nil)
  }

  @Test("Only forced mutations are sent while the server stops")
  func sendsOnlyForcedAtTheEnd() throws {
    var rotation = SendRotation(concurrencyMax: 8)
    let item = { (number: Int, isForced: Bool) in
      QueueSchedule.Ready(
        id: MutationID("m\(number)"), upstream: "up", place: Int64(number), isForced: isForced,
        isRepeatable: true)
    }
    rotation.note(QueueSchedule(ready: [item(1, false)], wake: nil), of: "waits")
    #expect(rotation.next(at: Self.start, isEnding: true) == nil)
    rotation.note(QueueSchedule(ready: [item(2, true)], wake: nil), of: "forced")
    #expect(rotation.next(at: Self.start, isEnding: true)?.device == "forced")
    #expect(rotation.next(at: Self.start, isEnding: true) == nil)
    #expect(rotation.next(at: Self.start)?.device == "waits")
  }

  /// An attempt that ends while another mutation is enqueued: whose schedule is noted last is chance.
  @Test("A schedule that is noted late does not replace a newer one")
  func olderSchedulesAreIgnored() throws {
    var rotation = SendRotation(concurrencyMax: 1)
    let item = QueueSchedule.Ready(
      id: MutationID("m"), upstream: "up", place: 1, isForced: false, isRepeatable: true)
    let end = Self.start.advanced(by: .seconds(30))
    let (during, after) = (
      QueueSchedule(ready: [], wake: end, number: 1),
      QueueSchedule(ready: [item], wake: nil, number: 2)
    )
    rotation.note(after, of: "d")
    rotation.note(during, of: "d")
    #expect(rotation.wake == nil)
    #expect(rotation.next(at: Self.start)?.ready == item)
    // What no change led to is not older: the store is read again soon.
    rotation.note(QueueSchedule(ready: [], wake: Self.start), of: "d")
    #expect(rotation.woken(at: Self.start) == ["d"])
    rotation.note(QueueSchedule(ready: [], wake: end, number: 3), of: "d")
    #expect(rotation.wake == end)
    rotation.note(QueueSchedule(ready: [], wake: nil, number: 4), of: "d")
    #expect(rotation.wake == nil)
  }

  @Test("Forced mutations are sent first")
  func forcedGoFirst() throws {
    let rotation = RotationBench(concurrencyMax: 1)
    rotation.note("a", place: 1)
    rotation.note("b", place: 2, isForced: true)
    #expect(rotation.next(at: Self.start)?.device == "b")
    #expect(rotation.next(at: Self.start)?.device == "a")
  }

  @Test("The oldest mutation probes an unavailable upstream at least every five seconds")
  func oldestProbes() throws {
    let rotation = RotationBench(concurrencyMax: 8)
    func noteAll() {
      for (device, place) in [("c", 3), ("a", 1), ("b", 2)] {
        rotation.note(device, place: Int64(place))
      }
    }
    noteAll()
    let first = try #require(rotation.next(at: Self.start))
    rotation.ended(first, as: .notSent(isAway: true), at: Self.start)
    noteAll()
    var now = Self.start
    for _ in 0..<1_000 {
      #expect(rotation.next(at: now) == nil)
      let wake = try #require(rotation.wake)
      #expect(now.elapsed(until: wake) <= .seconds(5) && wake > now)
      now = wake
      let probe = try #require(rotation.next(at: now))
      #expect(probe.device == "a")
      #expect(rotation.next(at: now) == nil)
      rotation.ended(probe, as: .notSent(isAway: true), at: now)
      noteAll()
    }
  }

  @Test("A backlog is sent with a slow start after an outage")
  func startsSlowly() throws {
    let rotation = RotationBench(concurrencyMax: 8)
    var now = Self.start
    func noteAll() {
      for number in 0..<100 {
        rotation.note("d\(number)", place: Int64(number))
      }
    }
    noteAll()
    let first = try #require(rotation.next(at: now))
    rotation.ended(first, as: .notSent(isAway: true), at: now)
    now = try #require(rotation.wake)
    var flying = [try #require(rotation.next(at: now))]
    var widths: [Int] = []
    for _ in 0..<5 {
      for turn in flying {
        rotation.ended(turn, as: .applied(created: [:]), at: now)
      }
      flying = []
      while let turn = rotation.next(at: now) { flying.append(turn) }
      widths.append(flying.count)
    }
    #expect(widths == [2, 8, 8, 8, 8])
  }

  @Test("A success outside the queue ends the wait for a probe")
  func otherSuccessEndsOutage() throws {
    let rotation = RotationBench(concurrencyMax: 2)
    #expect(!rotation.succeeded(at: Self.start))
    #expect(rotation.lastSucceeded() == nil)
    rotation.note("a", place: 1)
    let first = try #require(rotation.next(at: Self.start))
    rotation.ended(first, as: .notSent(isAway: true), at: Self.start)
    rotation.note("a", place: 1)
    #expect(rotation.next(at: Self.start) == nil)
    let later = Self.start.advanced(by: .milliseconds(10))
    #expect(rotation.succeeded(at: later))
    #expect(rotation.lastSucceeded() == later)
    #expect(rotation.next(at: later)?.device == "a")
    #expect(!rotation.succeeded(at: later))
  }

  @Test("Forced mutations do not wait for a probe")
  func forcedIgnoreOutage() throws {
    let rotation = RotationBench(concurrencyMax: 2)
    rotation.note("a", place: 1)
    let first = try #require(rotation.next(at: Self.start))
    rotation.ended(first, as: .notSent(isAway: true), at: Self.start)
    rotation.note("a", place: 1)
    rotation.note("b", place: 2, isForced: true)
    let forced = try #require(rotation.next(at: Self.start))
    #expect(forced.device == "b")
    #expect(rotation.next(at: Self.start) == nil)
    rotation.ended(forced, as: .permanent, at: Self.start)
    #expect(rotation.next(at: Self.start)?.device == "a")
  }

  @Test("Devices are woken at their times, a few at once")
  func wakesDevices() {
    let rotation = RotationBench(concurrencyMax: 1)
    for number in 0..<100 { rotation.noteWaiting("d\(number)", until: Self.start) }
    let later = Self.start.advanced(by: .seconds(3))
    rotation.noteWaiting("d7", until: later)
    rotation.noteWaiting("d8", until: nil)
    #expect(rotation.wake == Self.start)
    var woken: [String] = []
    while true {
      let some = rotation.woken(at: Self.start, max: 30)
      guard !some.isEmpty else { break }
      #expect(some.count <= 30)
      woken += some
    }
    #expect(Set(woken) == Set((0..<100).map { "d\($0)" }).subtracting(["d7", "d8"]))
    #expect(rotation.wake == later)
    #expect(rotation.woken(at: later) == ["d7"])
    #expect(rotation.wake == nil)
  }

  @Test("A device without ready mutations is skipped")
  func skipsDevicesWithoutReady() throws {
    let rotation = RotationBench(concurrencyMax: 1)
    rotation.note("a", place: 1)
    rotation.noteWaiting("a", until: nil)
    #expect(rotation.next(at: Self.start) == nil)
    #expect(rotation.wake == nil)
  }
}
