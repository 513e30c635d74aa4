import Model
import TestSupport
import Testing

@testable import Gateway

struct HookScheduleTests {
  private static let start = Timestamp(milliseconds: 1_700_000_000_000)

  private static func event(
    _ sequence: Int64, lane: Int64, created: Timestamp = start, attempts: Int = 0
  ) -> HookEvent {
    HookEvent(
      sequence: sequence, lane: lane, id: "evt_\(sequence)", body: [], created: created,
      attempts: attempts)
  }

  @Test("Events of different entities are delivered concurrently, a few at a time")
  func deliversConcurrently() {
    var schedule = HookSchedule()
    let due = (1...10).map { Self.event(Int64($0), lane: Int64($0)) }
    #expect(schedule.step(at: Self.start) == .look(limit: HookSchedule.lanesMax, besides: []))
    let begun = schedule.begin(due, besides: [], at: Self.start)
    #expect(begun.map(\.event.sequence) == [1, 2, 3, 4])
    #expect(schedule.step(at: Self.start) == .wait(until: nil))
    #expect(schedule.note(.delivered, of: due[0], at: Self.start, chance: 0) == .removed)
    // The lane is in flight until the outbox has the result.
    #expect(schedule.step(at: Self.start) == .wait(until: nil))
    schedule.end(due[0])
    #expect(schedule.step(at: Self.start) == .look(limit: 4, besides: [2, 3, 4]))
    #expect(
      schedule.begin(Array(due[1...]), besides: [2, 3, 4], at: Self.start).map(\.event.sequence)
        == [5])
  }

  @Test("A lane that was in flight when the outbox was read does not begin again")
  func lanesInFlightDoNotBegin() {
    var schedule = HookSchedule()
    let event = Self.event(1, lane: 1)
    _ = schedule.begin([event], besides: [], at: Self.start)
    guard case .look(_, let besides) = schedule.step(at: Self.start) else {
      Issue.record("nothing more begins")
      return
    }
    // It ends while the outbox is read: the snapshot can still have its event.
    _ = schedule.note(.delivered, of: event, at: Self.start, chance: 0)
    schedule.end(event)
    #expect(schedule.begin([event], besides: besides, at: Self.start).isEmpty)
  }

  @Test("Waits double up to an hour, with jitter, and respect Retry-After")
  func waitsGrow() {
    var last = Duration.zero
    for attempts in 0..<40 {
      let (short, long) = (
        HookSchedule.wait(after: attempts, chance: 0), HookSchedule.wait(after: attempts, chance: 1)
      )
      #expect(short * 2 == long && long >= last && long <= HookSchedule.waitMax)
      last = long
    }
    #expect(HookSchedule.wait(after: 0, chance: 1) == .seconds(5))
    #expect(last == HookSchedule.waitMax)
    var schedule = HookSchedule()
    let event = Self.event(1, lane: 1)
    for (asked, wait) in [
      (nil, 5), (1, 5), (60, 60), (100_000, 3_600),
    ] as [(Int64?, Int64)] {
      let end = schedule.note(
        .failed(retryAfter: asked.map { .seconds($0) }), of: event, at: Self.start, chance: 1)
      #expect(end == .waits(until: Self.start.advanced(by: .seconds(wait))))
    }
  }

  @Test("If requests cannot be sent all events pause, no attempt counts, and one event probes")
  func pausesAndProbes() {
    var schedule = HookSchedule()
    let due = (1...4).map { Self.event(Int64($0), lane: Int64($0)) }
    _ = schedule.begin(due, besides: [], at: Self.start)
    for event in due {
      #expect(
        schedule.note(.notSent(retryAfter: nil), of: event, at: Self.start, chance: 1) == nil)
      schedule.end(event)
    }
    // Four failures at once are one outage.
    let first = Self.start.advanced(by: HookSchedule.firstPause)
    #expect(schedule.step(at: Self.start) == .wait(until: first))
    #expect(schedule.step(at: first) == .look(limit: 1, besides: []))
    var now = first
    for _ in 0..<20 {
      #expect(schedule.begin(due, besides: [], at: now).count == 1)
      _ = schedule.note(.notSent(retryAfter: nil), of: due[0], at: now, chance: 1)
      schedule.end(due[0])
      guard case .wait(let until?) = schedule.step(at: now) else {
        Issue.record("there is no pause")
        return
      }
      #expect(now.elapsed(until: until) <= HookSchedule.pauseMax)
      now = until
    }
    _ = schedule.begin(due, besides: [], at: now)
    _ = schedule.note(.delivered, of: due[0], at: now, chance: 1)
    schedule.end(due[0])
    #expect(schedule.step(at: now) == .look(limit: HookSchedule.lanesMax, besides: []))
  }

  @Test("An event expires after three days")
  func expires() {
    var schedule = HookSchedule()
    let last = Self.start.advanced(by: HookSchedule.lifetime)
    let before = last.advanced(by: .zero - Duration.milliseconds(1))
    let event = Self.event(1, lane: 1)
    #expect(schedule.begin([event], besides: [], at: before).map(\.hasExpired) == [false])
    schedule.end(event)
    #expect(schedule.begin([event], besides: [], at: last).map(\.hasExpired) == [true])
  }

  /// An outbox in memory, as the store keeps it.
  private struct Outbox {
    struct Lane {
      var events: [(sequence: Int64, created: Timestamp)] = []
      var due = Timestamp(milliseconds: 0)
      var attempts = 0
    }

    var lanes: [Int64: Lane] = [:]

    var isEmpty: Bool { lanes.values.allSatisfy { $0.events.isEmpty } }

    func due(at now: Timestamp, limit: Int) -> [HookEvent] {
      let ready = lanes.filter { !$0.value.events.isEmpty && $0.value.due <= now }
        .sorted { ($0.value.due.milliseconds, $0.key) < ($1.value.due.milliseconds, $1.key) }
      return ready.prefix(limit).map { number, lane in
        HookScheduleTests.event(
          lane.events[0].sequence, lane: number, created: lane.events[0].created,
          attempts: lane.attempts)
      }
    }

    mutating func settle(_ event: HookEvent, as end: HookEventEnd) {
      switch end {
      case .removed:
        lanes[event.lane]?.events.removeFirst()
        lanes[event.lane]?.due = Timestamp(milliseconds: 0)
        lanes[event.lane]?.attempts = 0
      case .waits(let until):
        lanes[event.lane]?.due = until
        lanes[event.lane]?.attempts += 1
      }
    }
  }

  @Test(
    "Over random outages every event arrives in the order of its entity, or expires after three days",
    arguments: [UInt64(1), 2, 3, 4, 5, 6, 7, 8])
  func arrivesInOrder(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var schedule = HookSchedule()
    var outbox = Outbox()
    var now = Self.start
    var sequence: Int64 = 0
    var arrived: [Int64: [Int64]] = [:]
    var dropped: Set<Int64> = []
    /// An entity that the hook never accepts.
    let hopeless: Int64 = 1
    for _ in 0..<30_000 {
      if sequence < 200, Int.random(in: 0..<10, using: &random) == 0 {
        sequence += 1
        outbox.lanes[Int64.random(in: 1...8, using: &random), default: .init()]
          .events.append((sequence, now))
      }
      guard case .look(let limit, let besides) = schedule.step(at: now) else {
        now = now.advanced(by: .seconds(1))
        continue
      }
      let begun = schedule.begin(outbox.due(at: now, limit: limit), besides: besides, at: now)
      if begun.isEmpty {
        now = now.advanced(by: .seconds(Int64.random(in: 1...120, using: &random)))
      }
      for (event, hasExpired) in begun {
        let first = outbox.lanes[event.lane]?.events.first
        #expect(first?.sequence == event.sequence, "seed \(seed)")
        if hasExpired {
          #expect(event.created.elapsed(until: now) >= HookSchedule.lifetime)
          dropped.insert(event.sequence)
          outbox.settle(event, as: .removed)
        } else {
          let result: HookSchedule.Result =
            switch Int.random(in: 0..<10, using: &random) {
            case 0: .notSent(retryAfter: nil)
            case 1, 2: .failed(retryAfter: nil)
            default: event.lane == hopeless ? .failed(retryAfter: nil) : .delivered
            }
          if result == .delivered { arrived[event.lane, default: []].append(event.sequence) }
          let chance = Double.random(in: 0...1, using: &random)
          if let end = schedule.note(result, of: event, at: now, chance: chance) {
            outbox.settle(event, as: end)
          }
        }
        schedule.end(event)
      }
      if sequence == 200, outbox.isEmpty { break }
    }
    #expect(outbox.isEmpty, "seed \(seed)")
    for (lane, order) in arrived {
      #expect(order == order.sorted() && Set(order).count == order.count, "seed \(seed): \(lane)")
    }
    #expect(arrived[hopeless] == nil)
    // The entity that fails holds up no other.
    let delivered = Set(arrived.values.flatMap { $0 })
    #expect(delivered.isDisjoint(with: dropped) && delivered.union(dropped).count == 200)
    #expect(delivered.count > 100, "seed \(seed): \(delivered.count)")
  }
}
