import LosslessJSON
import Model
import Storage
import TestSupport
import Testing
import Upstream

@testable import Gateway

struct SubscriptionStoringTests {
  @Test("An event is stored before its clients get it, and cached responses move at once")
  func storesBeforeDelivery() async throws {
    let world = try SubscriptionWorld()
    world.http.set("1", .init(name: "old"))
    #expect(try await world.read().body.contains("old"))
    let reader = try await world.reader("Plain")
    let upstream = try await world.opened()
    upstream.change("1", "new", version: 2)
    _ = await reader.frames(1)
    #expect(try await world.name(of: "1") == "new")
    #expect(try await world.read().body.contains("new"))
    #expect(world.http.calls.count == 1, "the cached response moved without a call")
    await reader.leave()
  }

  @Test(
    "Declared effects of an event are applied: a deletion by a path into the payload, and lists")
  func appliesEffects() async throws {
    let world = try SubscriptionWorld()
    world.http.set("1", .init(name: "one"))
    world.http.set("2", .init(name: "two"))
    _ = try await world.read()
    let deletions = try await world.reader("ItemDeleted")
    try await world.opened(0).next(#"{"data":{"itemDeleted":{"id":"1"}}}"#)
    _ = await deletions.frames(1)
    #expect(try await world.name(of: "1") == nil)
    #expect(try await world.read().body.contains("one") == false)
    let changes = try await world.reader("ItemChanged")
    let calls = world.http.calls.count
    world.http.set("3", .init(name: "three"))
    try await world.opened(1).change("3", "three")
    _ = await changes.frames(1)
    #expect(try await world.read().body.contains("three"))
    #expect(world.http.calls.count == calls + 1, "the list was due")
    await deletions.leave()
    await changes.leave()
  }

  @Test("An event that shows what it declares deleted deletes it, stored before or not")
  func deletesWhatTheEventShows() async throws {
    let world = try SubscriptionWorld()
    world.http.set("1", .init(name: "one"))
    _ = try await world.read()
    let reader = try await world.reader("ItemGone")
    let upstream = try await world.opened()
    for id in ["1", "99"] {
      upstream.next(#"{"data":{"itemGone":{"id":"\#(id)","name":"last"}}}"#)
    }
    #expect(await reader.frames(2).count == 2)
    #expect(try await world.name(of: "1") == nil)
    #expect(try await world.name(of: "99") == nil)
    #expect(try await world.read().body.contains("one") == false)
    await reader.leave()
  }

  @Test("Events that the store refuses are a gap: what they concern is due, and clients are told")
  func refusedEventsAreAGap() async throws {
    let world = try SubscriptionWorld()
    world.http.set("1", .init(name: "old"))
    _ = try await world.read()
    let calls = world.http.calls.count
    let reader = try await world.reader("Plain")
    let upstream = try await world.opened()
    upstream.send(.established(afterGap: false))
    try world.refuseChanges(true)
    upstream.change("1", "new", version: 2)
    #expect(await reader.frames(1).count == 1)
    #expect(world.log.lines.contains { $0.message.hasSuffix("event could not be stored") })
    try world.refuseChanges(false)
    #expect(try await world.name(of: "1") == "old")
    await eventually { world.time.nextWake != nil }
    world.time.advance(by: .seconds(2))
    #expect(await reader.frames(2).last == "gap")
    world.http.set("1", .init(name: "new"))
    #expect(try await world.read().body.contains("new"))
    #expect(world.http.calls.count == calls + 1)
    await reader.leave()
  }

  @Test(
    "A confirmation that comes late, or after an attempt failed, is a gap; one in time is none",
    arguments: [(Duration.milliseconds(500), false), (.milliseconds(1_500), true)])
  func lateConfirmationsAreAGap(after wait: Duration, isGap: Bool) async throws {
    let world = try SubscriptionWorld()
    world.http.set("1", .init(name: "old"))
    _ = try await world.read()
    let calls = world.http.calls.count
    let reader = try await world.reader("Plain")
    let upstream = try await world.opened()
    world.time.advance(by: wait)
    upstream.send(.established(afterGap: false))
    upstream.change("1", "new", version: 2)
    let frames = await reader.frames(isGap ? 2 : 1)
    #expect((frames.first == "gap") == isGap, "\(frames)")
    _ = try await world.read()
    #expect(world.http.calls.count == (isGap ? calls + 1 : calls))
    await reader.leave()
  }

  @Test("Errors without data are passed on and not stored; a partial event is stored in part")
  func passesErrorsOn() async throws {
    let world = try SubscriptionWorld()
    let reader = try await world.reader("Plain")
    let upstream = try await world.opened()
    let commits = world.commits.value
    upstream.next(#"{"errors":[{"message":"a"}]}"#)
    upstream.next(#"{"data":null,"errors":[{"message":"b"}]}"#)
    #expect(
      await reader.frames(2) == [
        #"{"data":null,"errors":[{"message":"a"}]}"#, #"{"data":null,"errors":[{"message":"b"}]}"#,
      ])
    #expect(world.commits.value == commits)
    upstream.next(
      #"{"data":{"itemChanged":{"id":"1","name":null,"version":2}},"errors":[{"message":"c","path":["itemChanged","name"]}]}"#
    )
    _ = await reader.frames(3)
    let record = try await world.store.entity(
      EntityKey(type: "Item", key: "1"), viewer: .anonymous)
    let stored = try JSONValue(parsing: try #require(record?.layers.first))
    #expect(stored["version"] == 2 && stored["name"] == nil)
    await reader.leave()
  }

  @Test("Events that wait are stored in one transaction, in their order")
  func batchesEvents() async throws {
    let world = try SubscriptionWorld()
    let reader = try await world.reader("Plain")
    let upstream = try await world.opened()
    let count = 1_000
    for number in 1...count {
      upstream.change("\(number % 7)", "n\(number)", version: number)
    }
    _ = await reader.frames(1)
    await eventually { upstream.takenCount == count }
    await world.hub.end()
    for id in 0..<7 {
      let last = (1...count).last { $0 % 7 == id } ?? 0
      #expect(try await world.name(of: "\(id)") == "n\(last)")
    }
    #expect(world.commits.value < count / 2, "\(world.commits.value) commits")
    await reader.leave()
  }

  @Test("Random events leave the state of the last one of each item", arguments: 0..<10)
  func endsInLastState(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let world = try SubscriptionWorld()
    let changes = try await world.reader("Plain")
    let changed = try await world.opened(0)
    let deletions = try await world.reader("ItemDeleted")
    let deleted = try await world.opened(1)
    var expected: [String: String] = [:]
    var sentDeletions = 0
    for number in 1...60 {
      let id = "\(Int.random(in: 1...4, using: &generator))"
      if Int.random(in: 0..<4, using: &generator) == 0 {
        // Events of two subscriptions have no order but that of their arrival.
        await eventually { changed.takenCount == number - 1 - sentDeletions }
        _ = await changes.frames(number - 1 - sentDeletions)
        deleted.next(#"{"data":{"itemDeleted":{"id":"\#(id)"}}}"#)
        sentDeletions += 1
        _ = await deletions.frames(sentDeletions)
        expected[id] = nil
      } else {
        changed.change(id, "n\(number)", version: number)
        expected[id] = "n\(number)"
      }
    }
    _ = await changes.frames(60 - sentDeletions)
    for id in ["1", "2", "3", "4"] {
      #expect(try await world.name(of: id) == expected[id], "seed \(seed), item \(id)")
    }
    await changes.leave()
    await deletions.leave()
  }

  @Test("A gap is reported to every client, and what the subscription covers is fetched again")
  func reportsGap() async throws {
    let world = try SubscriptionWorld()
    world.http.set("1", .init(name: "one"))
    _ = try await world.read()
    let first = try await world.reader("Plain")
    let second = try await world.reader("Plain")
    let upstream = try await world.opened()
    upstream.send(.established(afterGap: false))
    upstream.change("1", "two")
    _ = await first.frames(1)
    upstream.send(.interrupted(.lost(cause: "x")))
    await eventually { world.hub.statuses.first?.phase == .interrupted }
    world.http.set("1", .init(name: "three"))
    upstream.send(.established(afterGap: true))
    #expect(await first.frames(2).last == "gap")
    #expect(await second.frames(2).last == "gap")
    #expect(try await world.read().body.contains("three"))
    let status = try #require(world.hub.statuses.first)
    #expect(status.phase == .live && status.gaps == 1 && status.events == 1 && status.clients == 2)
    await first.leave()
    await second.leave()
  }

  @Test("A private subscription's events stay in that caller's view")
  func keepsScopesApart() async throws {
    let world = try SubscriptionWorld()
    let ada = Caller.opaque("ada")
    let reader = try await world.reader("Plain", by: ada)
    try await world.opened().change("1", "secret")
    _ = await reader.frames(1)
    #expect(try await world.name(of: "1") == nil)
    #expect(try await world.name(of: "1", viewer: Caller.opaque("eve").viewer) == nil)
    #expect(try await world.name(of: "1", viewer: ada.viewer) == "secret")
    await reader.leave()
  }
}
