import AppSyncDouble
import HTTPClient
import HTTPTypes
import HasuraDouble
import LosslessJSON
import Synchronization
import TestSupport
import Testing
import Transport
import VendorDouble

@testable import Upstream

/// The live side over real sockets, and a client of other make at the double of AppSync.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct LiveServerTests {
  /// The live side of an upstream on a port of this machine.
  private func live(
    _ settings: UpstreamConfiguration, _ client: HTTPClient
  ) -> UpstreamSubscriptions {
    UpstreamSubscriptions(
      settings: settings, sockets: client, streams: client, clock: ScriptedUpstream.clock,
      uptime: { LoopClock.now().elapsed(since: LoopInstant(nanoseconds: 0)) }, random: { 0 })
  }

  private func withClient(_ body: (HTTPClient) async throws -> Void) async throws {
    let group = try EventLoopGroup(count: 1)
    let client = HTTPClient(group: group, random: { 0.5 })
    do {
      try await body(client)
    } catch {
      await client.close()
      await group.shutdown()
      throw error
    }
    await client.close()
    await group.shutdown()
  }

  private func open(_ live: UpstreamSubscriptions) throws -> UpstreamSubscription {
    let operation = try Samples.operation(LiveSetting.operation)
    let variables = try operation.coerce(VariablesTests.parameters([("id", "9")]))
    return live.open(operation, variables: variables, call: UpstreamCall(), credential: "c")
  }

  private static let film: JSONValue = ["__typename": "Film", "id": "9", "title": "Alien"]

  @Test(
    "Hasura over sockets: events, a lost connection, and the end of the last subscription",
    arguments: [SubscriptionChoice.automatic, .legacyWS])
  func speaksToHasura(choice: SubscriptionChoice) async throws {
    let hasura = FakeHasura(secret: "s3") { _, _, _ in Self.film }
    let server = try await FakeSocketServer(
      respond: { hasura.respond(to: $0) },
      connect: { hasura.connect(target: $0, subprotocols: $1) })
    try await withClient { client in
      let live = live(
        UpstreamConfiguration(
          url: "http://127.0.0.1:\(server.port)/v1/graphql", dialect: .hasura, secret: "s3",
          subscriptions: choice), client)
      let subscription = try open(live)
      #expect(LiveSetting.word(await subscription.next()) == "established")
      #expect(LiveSetting.word(await subscription.next()) == "next Alien")
      hasura.dropConnections()
      #expect(LiveSetting.word(await subscription.next()) == "interrupted")
      #expect(LiveSetting.word(await subscription.next()) == "re-established")
      #expect(LiveSetting.word(await subscription.next()) == "next Alien")
      subscription.cancel()
      #expect(await eventuallyHolds { hasura.subscriptionCount == 0 })
      live.stop()
      #expect(await eventuallyHolds { live.connectionCount == 0 })
    }
    await server.stop()
  }

  @Test(
    "AppSync over sockets, with the key in the subprotocol and in the query",
    arguments: [SubscriptionChoice.automatic, .legacyWS])
  func speaksToAppSync(choice: SubscriptionChoice) async throws {
    let api = Mutex<FakeAppSync?>(nil)
    let server = try await FakeSocketServer(
      respond: { _ in HTTPClientResponse(status: .notFound) },
      connect: { target, subprotocols in
        api.withLock { $0 }?.connect(target: target, subprotocols: subprotocols)
      })
    let appSync = FakeAppSync(host: "127.0.0.1:\(server.port)", keys: ["k"])
    api.withLock { $0 = appSync }
    try await withClient { client in
      let live = live(
        UpstreamConfiguration(
          url: "http://127.0.0.1:\(server.port)/graphql", dialect: .appsync, secret: "k",
          subscriptions: choice), client)
      let subscription = try open(live)
      #expect(LiveSetting.word(await subscription.next()) == "established")
      appSync.publish("filmChanged", Self.film)
      #expect(LiveSetting.word(await subscription.next()) == "next Alien")
      live.stop()
    }
    await server.stop()
  }

  @Test(
    "The double of AppSync is AppSync to gql's client",
    .enabled(if: PythonPeer.environment != nil, Comment(rawValue: PythonPeer.whyNot)))
  func servesClientOfOtherMake() async throws {
    let appSync = FakeAppSync(host: "api.test", keys: ["da2-k"])
    let server = try await FakeSocketServer(
      respond: { appSync.respond(to: $0) },
      connect: { appSync.connect(target: $0, subprotocols: $1) })
    let publishing = Task.detached {
      // Published again until the client, which starts in its own time, has heard it.
      while !Task.isCancelled {
        if appSync.subscriptionCount > 0 { appSync.publish("filmChanged", Self.film) }
        await pauseBetweenLooks()
      }
    }
    let output: String
    do {
      output = try await PythonPeer.run(
        "live/appsync_client.py", ["\(server.port)", "api.test", "da2-k", "filmChanged"])
    } catch {
      publishing.cancel()
      await server.stop()
      throw error
    }
    publishing.cancel()
    await server.stop()
    #expect(output.contains("checks passed"), "\(output)")
    #expect(output.contains(#"{"filmChanged": {"id": "9", "title": "Alien"}}"#), "\(output)")
    #expect(appSync.log.contains("connect query") && appSync.log.contains("start filmChanged"))
  }
}
