import HTTPClient
import Logging
import LosslessJSON
import Model
import TestSupport
import Testing
import Upstream

@testable import Gateway

struct StandingSubscriptionTests {
  private static let plain = StandingRule(operation: "Plain")
  private static let catchingUp = StandingRule(
    operation: "Plain",
    catchUp: CatchUpRule(operation: "ItemsSince", variable: "since", field: "updatedAt"))

  private static func time(_ minute: Int) -> String {
    "2024-01-01T00:\(minute < 10 ? "0" : "")\(minute):00Z"
  }

  /// Starts a standing subscription and waits until it is opened upstream.
  ///
  /// - Parameter isLive: whether upstream confirms it.
  private static func begin(
    _ rule: StandingRule, in world: SubscriptionWorld, isLive: Bool = true
  ) async throws -> (work: StandingWork, upstream: SubscriptionScript.Opened) {
    let work = try world.standing([rule])
    work.start()
    let upstream = try await world.opened()
    if isLive { upstream.send(.established(afterGap: false)) }
    return (work, upstream)
  }

  @Test("It runs while no client listens, and clients share it")
  func runsWithoutClients() async throws {
    let world = try SubscriptionWorld(hasServiceCredentials: true)
    let (work, upstream) = try await Self.begin(Self.plain, in: world, isLive: false)
    #expect(!upstream.call.carriesUserCredential)
    upstream.send(.established(afterGap: false))
    upstream.change("1", "one")
    try await eventually { try await world.name(of: "1") == "one" }
    #expect(world.hub.statuses.first?.isStanding == true && world.hub.counts == (1, 0))
    // Where anonymous callers are admitted they share it.
    let open = try SubscriptionWorld()
    let other = try open.standing([Self.plain])
    other.start()
    _ = try await open.opened()
    let reader = try await open.reader("Plain")
    open.script.opened[0].change("2", "two")
    _ = await reader.frames(1)
    #expect(open.script.opened.count == 1)
    await reader.leave()
    #expect(open.time.nextWake == nil, "nothing lingers: it is still wanted")
    await other.end()
    await work.end()
    await world.hub.end()
    await open.hub.end()
    #expect(upstream.isCancelled)
  }

  @Test("A start and a reconnection mark what it covers as due in every scope")
  func marksDue() async throws {
    let world = try SubscriptionWorld()
    world.http.set("1", .init(name: "one"))
    _ = try await world.read()
    let (work, upstream) = try await Self.begin(Self.plain, in: world, isLive: false)
    world.http.set("1", .init(name: "two"))
    upstream.send(.established(afterGap: false))
    try await eventually { try await world.read().body.contains("two") }
    upstream.send(.interrupted(.lost(cause: "x")))
    world.http.set("1", .init(name: "three"))
    upstream.send(.established(afterGap: true))
    try await eventually { try await world.read().body.contains("three") }
    let calls = world.http.calls.count
    upstream.send(.established(afterGap: false))
    upstream.change("1", "four")
    try await eventually { try await world.read().body.contains("four") }
    #expect(world.http.calls.count == calls, "no gap, no call")
    await work.end()
  }

  @Test("After a gap it fetches what was missed, from the newest value before the gap")
  func catchesUp() async throws {
    let world = try SubscriptionWorld()
    world.http.set("1", .init(name: "one", updatedAt: Self.time(1)))
    let (work, upstream) = try await Self.begin(Self.catchingUp, in: world)
    // Nothing is stored: the first call has no value, and the next continues where it ended.
    try await eventually { try await world.name(of: "1") == "one" }
    await eventually { world.http.calls.count == 2 }
    #expect(
      world.http.calls == ["ItemsSince {}", #"ItemsSince {"since":"\#(Self.time(1))"}"#])
    upstream.send(.interrupted(.lost(cause: "x")))
    await eventually { world.hub.statuses.first?.phase == .interrupted }
    await eventually { world.log.lines.contains { $0.message.contains("interrupted") } }
    world.http.set("2", .init(name: "two", updatedAt: Self.time(2)))
    world.http.set("3", .init(name: "three", updatedAt: Self.time(3)))
    upstream.send(.established(afterGap: true))
    upstream.change("1", "later", version: 9)
    try await eventually { try await world.name(of: "1") == "later" }
    #expect(try await world.name(of: "2") == "two")
    #expect(try await world.name(of: "3") == "three")
    #expect(world.http.calls[2] == #"ItemsSince {"since":"\#(Self.time(1))"}"#)
    await work.end()
  }

  @Test("What other reads store during a gap does not hide what was missed")
  func othersDoNotHideMisses() async throws {
    let world = try SubscriptionWorld()
    world.http.set("1", .init(name: "one", updatedAt: Self.time(1)))
    let (work, upstream) = try await Self.begin(Self.catchingUp, in: world)
    await eventually { world.http.calls.count == 2 }
    upstream.send(.interrupted(.lost(cause: "x")))
    upstream.change("1", "one")
    await eventually { upstream.takenCount == 3 }
    await eventually { world.hub.statuses.first?.events == 1 }
    // A newer item becomes known by another way; an older one is missed.
    world.http.set("2", .init(name: "missed", updatedAt: Self.time(2)))
    world.http.set("9", .init(name: "seen", updatedAt: Self.time(9)))
    world.http.limit(to: 1)
    let poll = try world.standing(
      [],
      polls: [
        PollRule(
          operation: "ItemsSince", every: .seconds(5),
          variables: [.init("since", Self.time(9))])
      ])
    poll.start()
    await eventually { world.time.nextWake != nil }
    world.time.advance(by: .seconds(5))
    try await eventually { try await world.name(of: "9") == "seen" }
    world.http.limit(to: .max)
    upstream.send(.established(afterGap: true))
    try await eventually { try await world.name(of: "2") == "missed" }
    await poll.end()
    await work.end()
  }

  @Test("After a restart it continues from the newest stored value, page by page")
  func catchesUpAfterRestart() async throws {
    let first = try SubscriptionWorld()
    first.http.set("1", .init(name: "one", updatedAt: Self.time(1)))
    let work = try await Self.begin(Self.catchingUp, in: first).work
    try await eventually { try await first.name(of: "1") == "one" }
    await work.end()
    await first.hub.end()

    let second = try SubscriptionWorld(folder: first.kept)
    for number in 1...9 {
      second.http.set("\(number)", .init(name: "n\(number)", updatedAt: Self.time(number)))
    }
    second.http.limit(to: 3)
    let again = try await Self.begin(Self.catchingUp, in: second).work
    try await eventually { try await second.name(of: "9") == "n9" }
    for number in 1...9 { #expect(try await second.name(of: "\(number)") == "n\(number)") }
    #expect(second.http.calls.first == #"ItemsSince {"since":"\#(Self.time(1))"}"#)
    await again.end()
    await second.hub.end()
  }

  @Test(
    "Events wait for the first attempt to catch up; if it fails, everything covered is due at once")
  func givesUpCatchingUp() async throws {
    let world = try SubscriptionWorld()
    world.http.set("1", .init(name: "one", updatedAt: Self.time(1)))
    _ = try await world.read()
    world.http.fail(with: .connectTimedOut)
    let (work, upstream) = try await Self.begin(Self.catchingUp, in: world)
    upstream.change("1", "two")
    try await eventually { try await world.name(of: "1") == "two" }
    var pauses: [Duration] = []
    for _ in 1..<StandingSubscription.Pauses.attemptsMax {
      await eventually { world.time.nextWake != nil }
      guard let wake = world.time.nextWake else { return }
      pauses.append(wake - world.time.reading)
      world.time.advance(to: wake)
    }
    #expect(pauses == pauses.sorted() && pauses.count == 5)
    world.http.fail(with: nil)
    world.http.set("1", .init(name: "three"))
    #expect(try await world.read().body.contains("three"))
    await work.end()
  }

  @Test("The end of the service interrupts a catch-up at once")
  func endsDuringCatchUp() async throws {
    let world = try SubscriptionWorld()
    world.http.fail(with: .connectTimedOut)
    let work = try await Self.begin(Self.catchingUp, in: world).work
    await eventually { world.time.nextWake != nil }
    await work.end()
    await world.hub.end()
    #expect(world.hub.counts.subscriptions == 0)
  }

  @Test("While it is down its cause and next attempt are shown, and its return is logged")
  func showsWhyItIsDown() async throws {
    let world = try SubscriptionWorld()
    let work = try world.standing([Self.plain])
    #expect(work.meters.count(of: "Plain") == 1)
    work.start()
    let first = try await world.opened()
    first.send(.established(afterGap: false))
    await eventually { work.standing.first?.phase == .live }
    #expect(work.meters.count(of: "Plain") == 0)
    #expect(work.standing.first?.cause == nil && work.standing.first?.nextAttempt == nil)
    first.send(.interrupted(.lost(cause: "reset")))
    first.send(.interrupted(.notSent(cause: "refused")))
    await eventually { work.standing.first?.cause?.contains("refused") == true }
    #expect(work.standing.first?.phase == .connecting && work.meters.count(of: "Plain") == 1)
    first.send(.established(afterGap: true))
    await eventually { work.standing.first?.phase == .live }
    #expect(work.standing.first?.cause == nil && work.meters.count(of: "Plain") == 0)
    let interruptions = world.log.lines.filter { $0.message.contains("interrupted") }
    #expect(interruptions.map(\.level) == [.warning, .info], "one warning for one outage")
    #expect(world.log.lines.contains { $0.message == "a subscription is live again" })

    first.send(.failed(.refused(.unauthenticated)))
    await eventually { world.time.nextWake != nil }
    let status = try #require(work.standing.first)
    #expect(status.phase == .waiting && status.lastFailure?.code == .upstreamUnauthenticated)
    #expect(status.cause != nil && work.meters.count(of: "Plain") == 1)
    #expect(
      status.nextAttempt == world.time.wall.advanced(by: StandingSubscription.Pauses.refused))
    world.time.advance(to: try #require(world.time.nextWake))
    try await world.opened(1).send(.established(afterGap: false))
    await eventually {
      world.log.lines.contains { $0.message == "a standing subscription is live again" }
    }
    #expect(work.standing.first?.phase == .live && work.meters.count(of: "Plain") == 0)
    await work.end()
  }

  @Test("It is opened again after it ends: soon after a failure, later after a refusal")
  func opensAgain() async throws {
    let world = try SubscriptionWorld()
    let work = try world.standing([Self.plain])
    work.start()
    try await world.opened().send(.failed(.lost(cause: "x")))
    await eventually { world.time.nextWake != nil }
    let first = try #require(world.time.nextWake)
    #expect(first <= .seconds(2))
    world.time.advance(to: first)
    try await world.opened(1).send(.complete)
    await eventually { world.time.nextWake != nil }
    world.time.advance(to: try #require(world.time.nextWake))
    try await world.opened(2).send(.failed(.refused(.forbidden)))
    await eventually { world.time.nextWake != nil }
    let last = try #require(world.time.nextWake)
    #expect(last - world.time.reading == StandingSubscription.Pauses.refused)
    #expect(world.log.lines.filter { $0.message.contains("opened again") }.count == 3)
    await work.end()
  }
}

struct UpstreamPollTests {
  @Test("A poll stores its query's result, with one call at a time and jittered pauses")
  func polls() async throws {
    let world = try SubscriptionWorld()
    world.http.set("1", .init(name: "one"))
    let work = try world.standing(
      [], polls: [PollRule(operation: "Items", every: .seconds(30))], random: { 0.75 })
    work.start()
    await eventually { world.time.nextWake != nil }
    #expect(world.time.nextWake == .milliseconds(22_500))
    world.time.advance(by: .milliseconds(22_500))
    await eventually { world.http.calls.count == 1 && world.time.nextWake != nil }
    #expect(world.time.nextWake == .milliseconds(22_500) + .seconds(30) * (0.9 + 0.2 * 0.75))
    #expect(try await world.read().body.contains("one"))
    #expect(world.http.calls.count == 1, "served from the poll's result")
    world.http.set("1", .init(name: "two"))
    world.time.advance(to: try #require(world.time.nextWake))
    try await eventually { try await world.name(of: "1") == "two" }
    #expect(try await world.read().body.contains("two"))
    let status = try #require(work.polling.first)
    #expect(status.operation == "Items" && status.polls == 2 && status.lastFailure == nil)
    await work.end()
  }

  @Test("A poll continues by the newest value of its own responses")
  func continues() async throws {
    let world = try SubscriptionWorld()
    world.http.set("1", .init(name: "one", updatedAt: "2024-01-01T00:01:00Z"))
    let work = try world.standing(
      [],
      polls: [
        PollRule(
          operation: "ItemsSince", every: .seconds(10), variables: [.init("owner", "ada")],
          since: .init(variable: "since", field: "updatedAt"))
      ])
    work.start()
    for round in 1...2 {
      await eventually { world.time.nextWake != nil }
      world.time.advance(to: try #require(world.time.nextWake))
      await eventually { world.http.calls.count >= round + 1 }
    }
    #expect(
      world.http.calls.prefix(3) == [
        #"ItemsSince {"owner":"ada"}"#,
        #"ItemsSince {"since":"2024-01-01T00:01:00Z","owner":"ada"}"#,
        #"ItemsSince {"since":"2024-01-01T00:01:00Z","owner":"ada"}"#,
      ])
    await work.end()
  }

  @Test("After failures the pauses grow to a minute, and a success ends that")
  func backsOff() async throws {
    let world = try SubscriptionWorld()
    world.http.fail(with: .breakerOpen(retryAfter: .seconds(1)))
    let work = try world.standing([], polls: [PollRule(operation: "Items", every: .seconds(8))])
    work.start()
    var pauses: [Duration] = []
    for round in 0..<6 {
      await eventually { world.time.nextWake != nil }
      let wake = try #require(world.time.nextWake)
      pauses.append(wake - world.time.reading)
      if round == 4 { world.http.fail(with: nil) }
      world.time.advance(to: wake)
      await eventually { work.polling.first?.polls == round + 1 }
    }
    #expect(pauses == [4, 16, 32, 60, 60, 8].map { .seconds($0) })
    #expect(world.log.lines.filter { $0.message.contains("a poll failed") }.count == 1)
    await eventually { world.log.lines.contains { $0.message == "a poll succeeds again" } }
    await work.end()
  }
}
