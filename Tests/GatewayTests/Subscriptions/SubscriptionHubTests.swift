import LosslessJSON
import Model
import Storage
import TestSupport
import Testing
import Upstream

@testable import Gateway

struct SubscriptionHubTests {
  private static func event(_ id: String, _ name: String, version: Int = 1) -> String {
    #"{"data":{"itemChanged":{"id":"\#(id)","name":"\#(name)","version":\#(version)}}}"#
  }

  @Test(
    "An operation whose upstream has its subscriptions switched off is refused at once, for good")
  func refusesSwitchedOff() async throws {
    let world = try SubscriptionWorld()
    world.script.switchOff()
    let found = await failure { try await world.start("Plain") }
    #expect(found?.code == .notImplemented && found?.retry == .never)
    #expect(world.script.opened.isEmpty)
  }

  @Test("Clients of the same operation, variables and scope share one upstream subscription")
  func sharesUpstream() async throws {
    let world = try SubscriptionWorld()
    let first = try await world.reader("Plain")
    let second = try await world.reader("Plain")
    let upstream = try await world.opened()
    upstream.send(.established(afterGap: false))
    upstream.change("1", "one")
    upstream.change("2", "two")
    let expected = [Self.event("1", "one"), Self.event("2", "two")]
    #expect(await first.frames(2) == expected)
    #expect(await second.frames(2) == expected)
    #expect(world.script.opened.count == 1)
    #expect(world.hub.counts == (1, 2))
    await first.leave()
    await second.leave()
  }

  @Test("Other variables are another subscription, and defaults are not")
  func separatesVariables() async throws {
    let world = try SubscriptionWorld()
    let all = try await world.reader("ItemChanged")
    let ada = try await world.reader("ItemChanged", ["owner": "ada"])
    let adaAgain = try await world.reader("ItemChanged", ["owner": "ada"])
    await eventually { world.script.opened.count == 2 }
    #expect(Set(world.script.opened.map(\.variables)) == ["{}", #"{"owner":"ada"}"#])
    for reader in [all, ada, adaAgain] { await reader.leave() }
  }

  @Test("The last client to leave ends the subscription after five seconds")
  func lastClientEndsIt() async throws {
    let world = try SubscriptionWorld()
    let first = try await world.reader("Plain")
    let second = try await world.reader("Plain")
    let upstream = try await world.opened()
    await first.leave()
    #expect(world.time.nextWake == nil)
    await second.leave()
    await eventually { world.time.nextWake == .seconds(5) }
    world.time.advance(by: .milliseconds(4_999))
    #expect(!upstream.isCancelled)
    world.time.advance(by: .milliseconds(1))
    await eventually { upstream.isCancelled && world.hub.counts == (0, 0) }
  }

  @Test("A client that comes back within five seconds finds the subscription open")
  func reloadKeepsIt() async throws {
    let world = try SubscriptionWorld()
    let first = try await world.reader("Plain")
    let upstream = try await world.opened()
    await first.leave()
    await eventually { world.time.nextWake == .seconds(5) }
    world.time.advance(by: .seconds(3))
    let second = try await world.reader("Plain")
    world.time.advance(by: .seconds(3))
    upstream.change("1", "one")
    #expect(await second.frames(1) == [Self.event("1", "one")])
    #expect(world.script.opened.count == 1 && !upstream.isCancelled)
    // The first departure's five seconds are not the second one's.
    await second.leave()
    await eventually { world.time.nextWake == .seconds(11) }
    world.time.advance(by: .seconds(5))
    await eventually { upstream.isCancelled }
    let third = try await world.reader("Plain")
    await eventually { world.script.opened.count == 2 }
    await third.leave()
  }

  @Test("A completed subscription ends its clients, and the next one opens it again")
  func completes() async throws {
    let world = try SubscriptionWorld()
    let reader = try await world.reader("Plain")
    let upstream = try await world.opened()
    upstream.change("1", "one")
    upstream.send(.complete)
    #expect(await reader.frames(2) == [Self.event("1", "one"), "complete"])
    await eventually { reader.hasEnded && world.hub.counts == (0, 0) }
    let next = try await world.reader("Plain")
    _ = try await world.opened(1)
    await next.leave()
  }

  @Test(
    "A failed subscription ends its clients with a problem, and is not opened again at once",
    arguments: [
      (UpstreamFailure.refused(.unauthenticated), "error upstream_unauthenticated never"),
      (.refused(.forbidden), "error upstream_forbidden never"),
      (.status(403, retryAfter: nil), "error upstream_forbidden never"),
      (.rejected(reason: "no such field"), "error upstream_rejected never"),
      (.notSent(cause: "x"), "error upstream_unreachable after"),
      (.lost(cause: "x"), "error upstream_malformed after"),
    ])
  func fails(failure: UpstreamFailure, frame: String) async throws {
    let world = try SubscriptionWorld()
    let reader = try await world.reader("Plain")
    let upstream = try await world.opened()
    upstream.send(.failed(failure))
    #expect(await reader.frames(1) == [frame])
    await eventually { reader.hasEnded }
    let code = frame.split(separator: " ")[1]
    let error = await #expect(throws: Failure.self) { try await world.start("Plain") }
    #expect(error?.code.rawValue == String(code))
    world.time.advance(by: .seconds(2))
    _ = try await world.start("Plain")
  }

  @Test("A subscription that ends without a reason is a failure that can be retried")
  func endsWithoutReason() async throws {
    let world = try SubscriptionWorld()
    let reader = try await world.reader("Plain")
    let upstream = try await world.opened()
    upstream.finish()
    #expect(await reader.frames(1) == ["error upstream_malformed after"])
  }

  @Test("Draining ends streams without a frame, and refuses new ones")
  func drains() async throws {
    let world = try SubscriptionWorld()
    let reader = try await world.reader("Plain")
    let upstream = try await world.opened()
    let start = try await world.start("Plain")
    world.signal.end()
    await eventually { reader.hasEnded }
    #expect(reader.frames.isEmpty)
    let error = await #expect(throws: Failure.self) { try await world.start("Plain") }
    #expect(error?.code == .draining)
    let late = StreamReader(world.hub, start)
    await eventually { late.hasEnded }
    await world.hub.end()
    #expect(upstream.isCancelled && world.hub.counts.subscriptions == 0)
    let refused = StreamReader(world.hub, start)
    await eventually { refused.hasEnded }
  }

  @Test("Ending the hub stores what has arrived")
  func endStoresArrivals() async throws {
    let world = try SubscriptionWorld()
    let reader = try await world.reader("Plain")
    let upstream = try await world.opened()
    for number in 1...100 { upstream.change("\(number)", "n\(number)") }
    await eventually { upstream.takenCount == 100 }
    await world.hub.end()
    #expect(try await world.name(of: "1") == "n1")
    await reader.leave()
  }

  @Test("A query or mutation cannot be subscribed to, and variables are checked")
  func checksRequests() async throws {
    let world = try SubscriptionWorld()
    let query = await #expect(throws: Failure.self) { try await world.start("Items") }
    #expect(query?.code == .malformedRequest)
    let variables = await #expect(throws: Failure.self) {
      try await world.start("ItemChanged", ["owner": ["x"], "other": 1])
    }
    #expect(variables?.code == .invalidVariables && variables?.details.count == 2)
    #expect(world.script.opened.isEmpty)
  }

  private static func caller(_ network: String, user: String? = nil) -> Caller {
    var caller = Caller(subject: user, user: user)
    caller.network = ClientNetwork(network)
    return caller
  }

  @Test("One network cannot close a scope to others by opening different subscriptions and leaving")
  func limitsOwners() async throws {
    let world = try SubscriptionWorld()
    let hostile = Self.caller("192.0.2.1")
    var readers: [StreamReader] = []
    for number in 0..<SubscriptionHub.subscriptionsOfOwnerMax {
      let reader = try await world.reader(
        "ItemChanged", ["owner": .string("\(number)")], by: hostile)
      // Those without a client linger, and count.
      if number % 2 == 0 { await reader.leave() } else { readers.append(reader) }
    }
    func refusal(_ caller: Caller) async throws -> Failure? {
      do {
        _ = try await world.start("ItemChanged", ["owner": "one more"], by: caller)
        return nil
      } catch {
        return error as? Failure
      }
    }
    let failure = try await refusal(hostile)
    #expect(failure?.code == .rateLimited && failure?.retry == .after)
    // The same scope from another network, and a user on the same network, are not affected.
    #expect(try await refusal(Self.caller("192.0.2.2")) == nil)
    #expect(try await refusal(Self.caller("192.0.2.1", user: "ada")) == nil)
    #expect(try await refusal(.anonymous) == nil)
    // Neither is joining one that is open.
    _ = try await world.start("ItemChanged", ["owner": "7"], by: hostile)
    for reader in readers { await reader.leave() }
    await eventually { world.time.nextWake != nil }
    await eventually {
      world.time.advance(by: SubscriptionHub.linger)
      return world.hub.counts.subscriptions == 0
    }
    #expect(try await refusal(hostile) == nil)
  }
}
