import AppSyncDouble
import HTTPClient
import HasuraDouble
import LosslessJSON
import Model
import Synchronization
import TestSupport
import Testing

@testable import Upstream

/// Both channels of Hasura and AppSync, against their strict doubles.
@Suite(.timeLimit(.minutes(10)))
struct VendorSubscriptionTests {
  // MARK: Hasura

  /// A table of one film whose title a test changes.
  private final class Films: Sendable {
    private let title = Mutex("Alien")

    var current: JSONValue {
      ["__typename": "Film", "id": "9", "title": .string(title.withLock { $0 })]
    }

    func rename(_ new: String) { title.withLock { $0 = new } }
  }

  private func hasura(_ films: Films) -> FakeHasura {
    FakeHasura(secret: "s3", tokens: ["u1": "user"]) { field, arguments, role in
      ["film", "filmChanged"].contains(field) && arguments["id"] == "9"
        ? role == "admin" || role == "user" ? films.current : .null : .null
    }
  }

  private static func configuration(
    _ dialect: Dialect, _ url: String, secret: String? = nil,
    _ choice: SubscriptionChoice = .automatic
  ) -> UpstreamConfiguration {
    UpstreamConfiguration(url: url, dialect: dialect, secret: secret, subscriptions: choice)
  }

  @Test(
    "Hasura's live queries, with the admin secret and with a user's token",
    arguments: [SubscriptionChoice.automatic, .legacyWS], [nil, "Bearer u1"])
  func subscribesToHasura(choice: SubscriptionChoice, token: String?) async throws {
    let films = Films()
    let hasura = hasura(films)
    let sockets = ScriptedSockets { hasura.connect(target: $0, subprotocols: $1) }
    let live = LiveSetting(
      Self.configuration(.hasura, "http://h/v1/graphql", secret: "s3", choice), sockets: sockets)
    let subscription = try live.open(token: token)
    #expect(LiveSetting.word(await subscription.next()) == "established")
    #expect(LiveSetting.word(await subscription.next()) == "next Alien")
    hasura.keepAlive()
    hasura.change()
    films.rename("Aliens")
    hasura.change()
    #expect(LiveSetting.word(await subscription.next()) == "next Aliens")
    let role = token == nil ? "admin" : "user"
    #expect(hasura.log == ["connect", "init \(role)", "start FilmChanged"])
    subscription.cancel()
    #expect(await eventuallyHolds { hasura.subscriptionCount == 0 })
    #expect(hasura.log.last == "stop")
  }

  @Test("Hasura closes the connection of a token that expires; the caller's newer one replaces it")
  func replacesHasurasToken() async throws {
    let hasura = hasura(Films())
    let sockets = ScriptedSockets { hasura.connect(target: $0, subprotocols: $1) }
    let live = LiveSetting(Self.configuration(.hasura, "http://h/v1/graphql"), sockets: sockets)
    let subscription = try live.open(token: "Bearer u1")
    #expect(LiveSetting.word(await subscription.next()) == "established")
    #expect(LiveSetting.word(await subscription.next()) == "next Alien")
    hasura.accept(token: "u2", role: "user")
    try live.renew("c", token: "Bearer u2")
    hasura.expire(token: "u1")
    #expect(LiveSetting.word(await subscription.next()) == "interrupted")
    #expect(LiveSetting.word(await subscription.next()) == "re-established")
    #expect(LiveSetting.word(await subscription.next()) == "next Alien")
  }

  @Test(
    "Hasura's refusals are final without another credential",
    arguments: [SubscriptionChoice.automatic, .legacyWS])
  func takesHasurasRefusals(choice: SubscriptionChoice) async throws {
    let hasura = hasura(Films())
    let sockets = ScriptedSockets { hasura.connect(target: $0, subprotocols: $1) }
    let live = LiveSetting(
      Self.configuration(.hasura, "http://h/v1/graphql", secret: "wrong", choice),
      sockets: sockets)
    let subscription = try live.open()
    #expect(LiveSetting.word(await subscription.next()) == "service refused")
    #expect(await subscription.next() == nil)
    #expect(hasura.connectionCount == 1)
  }

  @Test("Hasura's HTTP channel: secret, token, refusal")
  func callsHasura() async throws {
    let hasura = hasura(Films())
    let operation = try Samples.operation("query F($id: ID!) { film(id: $id) { title } }")
    let variables = try operation.coerce(VariablesTests.parameters([("id", "9")]))
    func call(_ secret: String?, _ call: UpstreamCall) async throws -> UpstreamResponse {
      let client = UpstreamClient(
        settings: Self.configuration(.hasura, "http://h/v1/graphql", secret: secret),
        clock: ScriptedUpstream.clock
      ) { request, limit throws(HTTPClientError) in try await hasura.send(request, within: limit) }
      return try await client.execute(operation, variables: variables, call: call)
    }
    #expect(try await call("s3", UpstreamCall()).data?["film"]?["title"]?.string == "Alien")
    // A caller's role is not sent with the secret, so it stays admin.
    let role = UpstreamCall(forwarded: [.init("x-hasura-role", "nobody")])
    #expect(try await call("s3", role).data?["film"]?.isNull == false)
    #expect(try await call("s3", LiveSetting.call("Bearer u1")).data?["film"]?.isNull == false)
    await #expect(throws: UpstreamFailure.self) { try await call("no", UpstreamCall()) }
    #expect(try await call("no", LiveSetting.call("Bearer u1")).data?["film"]?.isNull == false)
    #expect(try await call(nil, LiveSetting.call("Bearer x")).permission == .unauthenticated)
    #expect(try await call(nil, LiveSetting.call("x")).permission == .unauthenticated)
  }

  // MARK: AppSync

  private static let film: JSONValue = ["__typename": "Film", "id": "9", "title": "Alien"]

  @Test(
    "AppSync's subscriptions, with the key in the subprotocol, and in the query",
    arguments: [SubscriptionChoice.automatic, .legacyWS])
  func subscribesToAppSync(choice: SubscriptionChoice) async throws {
    let appSync = FakeAppSync(host: "api.test", keys: ["da2-k"])
    let sockets = ScriptedSockets { appSync.connect(target: $0, subprotocols: $1) }
    let live = LiveSetting(
      Self.configuration(.appsync, "https://api.test/graphql", secret: "da2-k", choice),
      sockets: sockets)
    let subscription = try live.open()
    #expect(LiveSetting.word(await subscription.next()) == "established")
    appSync.sendKeepAlive()
    appSync.publish("filmChanged", ["id": "8", "title": "Other"])
    appSync.publish("filmChanged", Self.film)
    #expect(LiveSetting.word(await subscription.next()) == "next Alien")
    let offer = try #require(sockets.offers.first)
    #expect(offer.url.target.hasPrefix("/graphql/realtime"))
    #expect(offer.fields.isEmpty)
    #expect(offer.url.target.contains("?") == (choice == .legacyWS))
    let way = choice == .legacyWS ? "query" : "header"
    #expect(appSync.log == ["connect \(way)", "init", "start filmChanged"])
    subscription.cancel()
    #expect(await eventuallyHolds { appSync.subscriptionCount == 0 })
  }

  @Test("AppSync refuses a wrong key before the acknowledgement, which is final")
  func takesAppSyncsRefusal() async throws {
    let appSync = FakeAppSync(host: "api.test", keys: ["da2-k"])
    let sockets = ScriptedSockets { appSync.connect(target: $0, subprotocols: $1) }
    let live = LiveSetting(
      Self.configuration(.appsync, "https://api.test/graphql", secret: "wrong"),
      sockets: sockets)
    let subscription = try live.open()
    #expect(LiveSetting.word(await subscription.next()) == "service refused")
    #expect(await subscription.next() == nil)
    #expect(appSync.connectionCount == 1)
  }

  @Test("Each start carries the newest token of its caller")
  func startsWithNewestToken() async throws {
    let appSync = FakeAppSync(host: "api.test", tokens: ["old"])
    let sockets = ScriptedSockets { appSync.connect(target: $0, subprotocols: $1) }
    let live = LiveSetting(
      Self.configuration(.appsync, "https://api.test/graphql"), sockets: sockets)
    let first = try live.open("8", token: "old")
    #expect(LiveSetting.word(await first.next()) == "established")
    appSync.refuse(token: "old")
    appSync.accept(token: "new")
    let second = try live.open("9", token: "new")
    #expect(LiveSetting.word(await second.next()) == "established")
    #expect(appSync.connectionCount == 1)
  }

  @Test("A connection that AppSync calls full is followed by another one")
  func movesFromFullConnections() async throws {
    let appSync = FakeAppSync(host: "api.test", keys: ["k"], subscriptionsMax: 2)
    let sockets = ScriptedSockets { appSync.connect(target: $0, subprotocols: $1) }
    let live = LiveSetting(
      Self.configuration(.appsync, "https://api.test/graphql", secret: "k"), sockets: sockets)
    let all = try (1...5).map { try live.open("\($0)") }
    for subscription in all {
      #expect(LiveSetting.word(await subscription.next()) == "established")
    }
    #expect(appSync.subscriptionCount == 5)
    #expect(appSync.connectionCount == 3)
  }

  @Test("AppSync's silence and its lost connections are noticed, and the gap is reported")
  func noticesAppSyncsSilence() async throws {
    let appSync = FakeAppSync(host: "api.test", keys: ["k"], keepAlive: .seconds(20))
    let sockets = ScriptedSockets { appSync.connect(target: $0, subprotocols: $1) }
    let live = LiveSetting(
      Self.configuration(.appsync, "https://api.test/graphql", secret: "k"), sockets: sockets)
    let subscription = try live.open()
    #expect(LiveSetting.word(await subscription.next()) == "established")
    // Time passes until the event is there: a step too many can end the second connection as well.
    let words = Mutex<[String]?>(nil)
    let reading = Task {
      let read = await LiveSetting.words(of: subscription, upTo: "re-established")
      words.withLock { $0 = read }
    }
    defer { reading.cancel() }
    try #require(await live.pass(.seconds(1)) { words.withLock { $0 != nil } })
    #expect(words.withLock { $0 } == ["interrupted", "re-established"])
    #expect(appSync.connectionCount >= 2)
    appSync.publish("filmChanged", Self.film)
    #expect(LiveSetting.word(await subscription.next()) == "next Alien")
  }

  @Test("AppSync's HTTP channel: key, token, refusals")
  func callsAppSync() async throws {
    let appSync = FakeAppSync(host: "api.test", keys: ["k"], tokens: ["t"]) { _, _ in Self.film }
    let operation = try Samples.operation("query F($id: ID!) { film(id: $id) { title } }")
    let variables = try operation.coerce(VariablesTests.parameters([("id", "9")]))
    func call(_ secret: String?, _ call: UpstreamCall) async throws -> UpstreamResponse {
      let client = UpstreamClient(
        settings: Self.configuration(.appsync, "https://api.test/graphql", secret: secret),
        clock: ScriptedUpstream.clock
      ) { request, limit throws(HTTPClientError) in
        try await appSync.send(request, within: limit)
      }
      return try await client.execute(operation, variables: variables, call: call)
    }
    #expect(try await call("k", UpstreamCall()).data?["film"]?["title"]?.string == "Alien")
    #expect(try await call("k", LiveSetting.call("t")).data != nil)
    await #expect(throws: UpstreamFailure.self) { try await call("no", UpstreamCall()) }
    #expect(try await call(nil, UpstreamCall()).permission == .unauthenticated)
  }
}
