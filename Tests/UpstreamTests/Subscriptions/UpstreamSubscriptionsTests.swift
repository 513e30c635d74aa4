import HTTPClient
import HTTPTypes
import LosslessJSON
import Synchronization
import TestSupport
import Testing
import VendorDouble

@testable import Upstream

/// Connections by credential, their limits, back-pressure, and the payloads that readers get.
@Suite(.timeLimit(.minutes(10)))
struct UpstreamSubscriptionsTests {
  /// A `graphql-transport-ws` server that does what a test says.
  private final class Server: Sendable {
    private struct State {
      var sockets: [FakeSocket] = []
      var received: [JSONValue] = []
    }

    private let state = Mutex(State())

    var sockets: [FakeSocket] { state.withLock { $0.sockets } }
    /// All messages of all connections, in order.
    var received: [JSONValue] { state.withLock { $0.received } }
    /// The ids of all `subscribe` messages.
    var started: [String] {
      received.filter { $0["type"] == "subscribe" }.compactMap { $0["id"]?.string }
    }

    func accept() -> FakeSocket {
      let socket = FakeSocket(subprotocol: "graphql-transport-ws")
      socket.use(
        received: { [self] socket, text in
          let message = (try? JSONValue(parsing: text)) ?? .null
          switch message["type"]?.string {
          case "connection_init": socket.send(Array(#"{"type":"connection_ack"}"#.utf8))
          case "ping": socket.send(Array(#"{"type":"pong"}"#.utf8))
          default: break
          }
          state.withLock { $0.received.append(message) }
        }, ended: { _ in })
      state.withLock { $0.sockets.append(socket) }
      return socket
    }

    func next(_ id: String, _ payload: String, on socket: Int = 0) {
      sockets[socket].send(Array(#"{"type":"next","id":"\#(id)","payload":\#(payload)}"#.utf8))
    }

    static func film(_ title: String) -> String {
      #"{"data":{"filmChanged":{"larder_typename":"Film","larder_Film_id":"9","title":"\#(title)"}}}"#
    }
  }

  private static let settings = UpstreamConfiguration(url: "http://up/graphql")

  private func world(
    _ server: Server, limits: SubscriptionLimits? = nil
  ) -> (LiveSetting, ScriptedSockets) {
    let sockets = ScriptedSockets { _ throws(UpstreamFailure) in server.accept() }
    return (LiveSetting(Self.settings, limits: limits, sockets: sockets), sockets)
  }

  @Test("Subscriptions of one credential share a connection, of two they do not")
  func sharesConnections() async throws {
    let server = Server()
    let (live, sockets) = world(server)
    let first = try live.open("1", credential: "a", token: "A")
    let second = try live.open("2", credential: "a", token: "A")
    let other = try live.open("3", credential: "b", token: "B")
    for subscription in [first, second, other] {
      #expect(LiveSetting.word(await subscription.next()) == "established")
    }
    #expect(sockets.offers.count == 2)
    #expect(Set(sockets.offers.map { $0.fields[.authorization] }) == ["A", "B"])
    #expect(live.subscriptions.connectionCount == 2)
    let inits = server.received.filter { $0["type"] == "connection_init" }
    #expect(
      Set(inits.map { $0["payload"]?["headers"]?["authorization"]?.string }) == ["A", "B"])
  }

  @Test("An event is read and checked like a response; an event that cannot be used is a gap")
  func checksEvents() async throws {
    let server = Server()
    let (live, _) = world(server)
    let subscription = try live.open()
    #expect(LiveSetting.word(await subscription.next()) == "established")
    server.next("1", Server.film("Alien"))
    #expect(LiveSetting.word(await subscription.next()) == "next Alien")
    server.next("1", #"{"data":{"filmChanged":{"title":7}}}"#)
    server.next("1", Server.film("Aliens"))
    guard case .interrupted(.malformed) = await subscription.next() else {
      Issue.record("not reported as malformed")
      return
    }
    #expect(LiveSetting.word(await subscription.next()) == "re-established")
    #expect(LiveSetting.word(await subscription.next()) == "next Aliens")
  }

  @Test("A server whose events can never be used fails the subscription")
  func failsUnusableEvents() async throws {
    let server = Server()
    let (live, _) = world(server)
    let subscription = try live.open()
    #expect(LiveSetting.word(await subscription.next()) == "established")
    for _ in 0..<10 { server.next("1", "7") }
    var words: [String] = []
    while let event = await subscription.next() { words.append(LiveSetting.word(event)) }
    #expect(words.count == 19)
    #expect(words.last?.hasPrefix("failed: ") == true)
    #expect(await eventuallyHolds { server.received.contains { $0["type"] == "complete" } })
  }

  @Test("A first event without data is a refusal, and the subscription is stopped")
  func failsRequestErrors() async throws {
    let server = Server()
    let (live, _) = world(server)
    let subscription = try live.open()
    #expect(LiveSetting.word(await subscription.next()) == "established")
    server.next("1", #"{"errors":[{"message":"no such field"}]}"#)
    #expect(LiveSetting.word(await subscription.next()) == "rejected: no such field")
    #expect(await subscription.next() == nil)
  }

  @Test("The last one to leave closes the connection after five seconds")
  func closesIdleConnections() async throws {
    let server = Server()
    let (live, sockets) = world(server)
    let first = try live.open("1")
    let second = try live.open("2")
    #expect(LiveSetting.word(await first.next()) == "established")
    #expect(LiveSetting.word(await second.next()) == "established")
    first.cancel()
    second.cancel()
    #expect(await first.next() == nil)
    #expect(
      await eventuallyHolds {
        server.received.filter { $0["type"] == "complete" }.count == 2
      })
    live.clock.advance(by: .seconds(4))
    #expect(!server.sockets[0].hasEnded)
    #expect(await live.pass(.seconds(1)) { server.sockets[0].hasEnded })
    #expect(await eventuallyHolds { live.subscriptions.connectionCount == 0 })
    let again = try live.open("1")
    #expect(LiveSetting.word(await again.next()) == "established")
    #expect(sockets.offers.count == 2)
  }

  @Test("A released subscription is cancelled")
  func cancelsReleased() async throws {
    let server = Server()
    let (live, _) = world(server)
    do {
      let subscription = try live.open()
      #expect(LiveSetting.word(await subscription.next()) == "established")
    }
    #expect(await eventuallyHolds { server.received.contains { $0["type"] == "complete" } })
  }

  @Test("A lost connection is made again, and the gap precedes further events")
  func reconnects() async throws {
    let server = Server()
    let (live, _) = world(server)
    let subscription = try live.open()
    #expect(LiveSetting.word(await subscription.next()) == "established")
    for round in 1...5 {
      server.sockets[round - 1].drop()
      #expect(LiveSetting.word(await subscription.next()) == "interrupted")
      #expect(await live.pass(.seconds(1)) { server.started.count == round + 1 })
      server.next("\(round + 1)", Server.film("after \(round)"), on: round)
      #expect(LiveSetting.word(await subscription.next()) == "re-established")
      #expect(LiveSetting.word(await subscription.next()) == "next after \(round)")
    }
  }

  @Test("A reader that does not read stops the connection's reading, and loses nothing")
  func hasBackPressure() async throws {
    let server = Server()
    var limits = SubscriptionLimits()
    limits.eventsMax = 4
    let (live, _) = world(server, limits: limits)
    let slow = try live.open("1")
    let fast = try live.open("2")
    #expect(LiveSetting.word(await slow.next()) == "established")
    #expect(LiveSetting.word(await fast.next()) == "established")
    for number in 1...20 { server.next("1", Server.film("\(number)")) }
    server.next("2", Server.film("fast"))
    // Pings, too, wait: the connection is not read.
    server.sockets[0].send(Array(#"{"type":"ping"}"#.utf8))
    for _ in 0..<1_000 { await Task.yield() }
    #expect(!server.received.contains { $0["type"] == "pong" })
    for number in 1...20 {
      #expect(LiveSetting.word(await slow.next()) == "next \(number)")
    }
    #expect(LiveSetting.word(await fast.next()) == "next fast")
    #expect(await eventuallyHolds { server.received.contains { $0["type"] == "pong" } })
  }

  @Test("A slow reader that leaves lets the others go on")
  func leavingReaderFreesOthers() async throws {
    let server = Server()
    var limits = SubscriptionLimits()
    limits.eventsMax = 2
    let (live, _) = world(server, limits: limits)
    let slow = try live.open("1")
    let fast = try live.open("2")
    #expect(LiveSetting.word(await slow.next()) == "established")
    #expect(LiveSetting.word(await fast.next()) == "established")
    for number in 1...10 { server.next("1", Server.film("\(number)")) }
    server.next("2", Server.film("fast"))
    for _ in 0..<100 { await Task.yield() }
    slow.cancel()
    #expect(LiveSetting.word(await fast.next()) == "next fast")
  }

  @Test("Interruptions do not accumulate for a reader that does not read")
  func mergesInterruptions() async throws {
    let server = Server()
    let (live, _) = world(server)
    let subscription = try live.open()
    #expect(LiveSetting.word(await subscription.next()) == "established")
    for _ in 1...20 {
      let count = server.started.count
      server.sockets.last?.drop()
      try #require(await live.pass(.seconds(1)) { server.started.count > count })
    }
    server.next("\(server.started.count)", Server.film("last"), on: server.sockets.count - 1)
    let words = await LiveSetting.words(of: subscription, upTo: "next last")
    #expect(words == ["interrupted", "re-established", "next last"])
  }

  @Test("A full connection is followed by another one, and their number is limited")
  func limitsConnections() async throws {
    let server = Server()
    var limits = SubscriptionLimits()
    limits.subscriptionsPerConnectionMax = 2
    limits.connectionsMax = 2
    let (live, _) = world(server, limits: limits)
    let open = try (1...4).map { try live.open("\($0)") }
    for subscription in open {
      #expect(LiveSetting.word(await subscription.next()) == "established")
    }
    #expect(server.sockets.count == 2)
    let surplus = try live.open("5")
    #expect(LiveSetting.word(await surplus.next()) == "failed: \(UpstreamFailure.busy)")
    #expect(await surplus.next() == nil)
    open[0].cancel()
    let next = try live.open("6")
    #expect(LiveSetting.word(await next.next()) == "established")
    #expect(server.sockets.count == 2)
  }

  @Test("A new token of the same caller is used by the next connection, without a gap before")
  func renewsCredentials() async throws {
    let server = Server()
    let (live, sockets) = world(server)
    let subscription = try live.open(token: "old")
    #expect(LiveSetting.word(await subscription.next()) == "established")
    try live.renew("c", token: "new")
    try live.renew("other", token: "x")
    #expect(sockets.offers.count == 1)
    server.sockets[0].close(4401)
    #expect(LiveSetting.word(await subscription.next()) == "interrupted")
    #expect(LiveSetting.word(await subscription.next()) == "re-established")
    #expect(sockets.offers.map { $0.fields[.authorization] } == ["old", "new"])
  }

  @Test("A refused credential without a newer one ends its subscriptions, and is counted once each")
  func failsWithoutNewerCredential() async throws {
    let server = Server()
    let (live, sockets) = world(server)
    let subscriptions = [try live.open("1", token: "old"), try live.open("2", token: "old")]
    for subscription in subscriptions {
      #expect(LiveSetting.word(await subscription.next()) == "established")
    }
    server.sockets[0].close(4403)
    for subscription in subscriptions {
      #expect(LiveSetting.word(await subscription.next()) == "refused")
      #expect(await subscription.next() == nil)
    }
    #expect(sockets.offers.count == 1)
    #expect(live.subscriptions.status.refusals == 2)
  }

  @Test("Stopping ends all subscriptions and refuses further ones")
  func stops() async throws {
    let server = Server()
    let (live, _) = world(server)
    let subscription = try live.open()
    #expect(LiveSetting.word(await subscription.next()) == "established")
    live.subscriptions.stop()
    let cause = UpstreamFailure.notSent(cause: "the service is shutting down")
    #expect(LiveSetting.word(await subscription.next()) == "failed: \(cause)")
    #expect(LiveSetting.word(await (try live.open()).next()) == "failed: \(cause)")
    #expect(server.sockets[0].hasEnded)
  }

  @Test("Subscriptions that are switched off fail at once")
  func canBeOff() async throws {
    var settings = Self.settings
    settings.subscriptions = .off
    let live = LiveSetting(settings)
    #expect(
      LiveSetting.word(await (try live.open()).next())
        == "rejected: subscriptions to it are switched off")
  }

  @Test("A flood of messages without an event is answered by closing")
  func closesOnFloods() async throws {
    let server = Server()
    let (live, _) = world(server)
    let subscription = try live.open()
    #expect(LiveSetting.word(await subscription.next()) == "established")
    for _ in 0..<1_100 { server.sockets[0].send(Array(#"{"type":"ping"}"#.utf8)) }
    guard case .interrupted(.malformed) = await subscription.next() else {
      Issue.record("not closed")
      return
    }
    #expect(server.sockets[0].hasEnded)
  }
}
