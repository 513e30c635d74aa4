import Testing

@testable import Upstream

/// Losses, refusals, deadlines and errors.
struct SessionRecoveryTests {
  // MARK: Losses

  @Test("After a loss every live subscription is started once, with its gap reported")
  func resubscribes() throws {
    var script = SessionScript(.transportWS)
    try script.connect([7, 8, 9])
    script.hear(#"{"type":"pong"}"#)
    script.handle(.cancel(8))
    _ = script.drain()
    script.handle(.closed(code: 1006))
    #expect(script.drain() == ["7 interrupted", "9 interrupted"])
    script.pass(.milliseconds(499))
    #expect(script.drain() == [])
    script.pass(.milliseconds(1))
    #expect(script.drain() == ["reopen one"])
    script.open()
    #expect(
      script.drain() == [
        "send connection_init", "send subscribe 4", "send subscribe 5", "send ping",
      ])
    script.hear(#"{"type":"next","id":"5","payload":{"data":{}}}"#)
    script.hear(#"{"type":"pong"}"#)
    #expect(script.drain() == ["9 re-established", #"9 next {"data":{}}"#, "7 re-established"])
  }

  @Test("The delay is a random part of a bound that doubles from 1 s to 60 s, reset by an ack")
  func backsOff() throws {
    var script = SessionScript(.legacyWS, random: { 0.999 })
    try script.subscribe(7)
    var delays: [Int64] = []
    for _ in 0..<9 {
      script.handle(.openingFailed(.notSent(cause: "test")))
      guard case .waiting(let until) = script.session.phase else { break }
      delays.append((until - script.now).components.seconds + 1)
      script.pass(until - script.now)
    }
    #expect(delays == [1, 2, 4, 8, 16, 32, 60, 60, 60])
    #expect(script.drain().filter { $0 == "7 interrupted" }.count == 1)
    script.open()
    script.handle(.closed(code: 1006))
    guard case .waiting(let until) = script.session.phase else {
      Issue.record("not waiting")
      return
    }
    #expect(until - script.now < .seconds(1))
  }

  @Test("Retry-After lengthens the delay, up to the bound")
  func respectsRetryAfter() throws {
    var script = SessionScript(.legacyWS, random: { 0 })
    try script.subscribe(7)
    script.handle(.openingFailed(.status(503, retryAfter: .seconds(7))))
    #expect(script.session.deadline == script.now + .seconds(7))
    script.pass(.seconds(7))
    script.handle(.openingFailed(.status(429, retryAfter: .seconds(7_000))))
    #expect(script.session.deadline == script.now + .seconds(60))
  }

  @Test(
    "What follows a close code",
    arguments: [
      (1000, "reconnect"), (1001, "reconnect"), (1005, "reconnect"), (1006, "reconnect"),
      (1009, "reconnect"), (1011, "reconnect"), (1012, "reconnect"), (1013, "reconnect"),
      (4408, "reconnect"), (4499, "reconnect"), (4500, "reconnect"), (4504, "reconnect"),
      (4999, "reconnect"), (4401, "refuse"), (4403, "refuse"), (1008, "refuse"), (4400, "fail"),
      (4406, "fail"), (4409, "fail"), (4429, "fail"), (4004, "fail"), (4005, "fail"),
    ] as [(UInt16, String)])
  func followsCloseCodes(code: UInt16, then: String) throws {
    var script = SessionScript(.transportWS)
    try script.connect([7])
    _ = script.drain()
    script.handle(.closed(code: code))
    let words = script.drain()
    switch then {
    case "reconnect":
      #expect(words == ["7 interrupted"])
      script.pass(.seconds(1))
      #expect(script.drain() == ["reopen one"])
    case "refuse": #expect(words == ["7 refused"])
    default: #expect(words == ["7 rejected: the connection was closed with code \(code)"])
    }
  }

  @Test("A server that does not accept the protocol is not asked again", arguments: [1002, 1003])
  func givesUpBeforeTheAck(code: UInt16) throws {
    var script = SessionScript(.legacyWS)
    try script.subscribe(7)
    script.handle(.opened(subprotocol: "graphql-ws"))
    script.handle(.closed(code: code))
    #expect(script.drain().last == "7 rejected: the connection was closed with code \(code)")
  }

  @Test(
    "What follows a refused handshake",
    arguments: [
      (.status(401, retryAfter: nil), "refuse"), (.status(403, retryAfter: nil), "refuse"),
      (.refused(.forbidden), "refuse"), (.status(404, retryAfter: nil), "fail"),
      (.status(426, retryAfter: nil), "fail"), (.rejected(reason: "x"), "fail"),
      (.status(500, retryAfter: nil), "wait"), (.status(429, retryAfter: nil), "wait"),
      (.status(408, retryAfter: nil), "wait"), (.lost(cause: "x"), "wait"),
      (.notSent(cause: "x"), "wait"), (.timeout(wasSent: false), "wait"),
    ] as [(UpstreamFailure, String)])
  func followsRefusedHandshakes(failure: UpstreamFailure, then: String) throws {
    var script = SessionScript(.transportWS)
    try script.subscribe(7)
    script.handle(.openingFailed(failure))
    #expect(script.outcome() == then, "\(failure)")
  }

  // MARK: Credentials

  @Test("Without a newer credential a refusal is final, before a connection and on one")
  func failsWithoutNewerCredential() throws {
    var script = SessionScript(.transportWS)
    try script.subscribe(7)
    _ = script.drain()
    script.handle(.openingFailed(.status(401, retryAfter: nil)))
    #expect(script.drain() == ["7 refused"])
    #expect(script.session.isFinished)
    script = SessionScript(.transportWS)
    try script.connect([7, 8])
    // The same headers again are no newer credential.
    script.handle(.offered(SessionScript.headers("one")))
    _ = script.drain()
    script.handle(.closed(code: 4403))
    #expect(script.drain() == ["7 refused", "8 refused"])
    #expect(script.session.isFinished)
  }

  @Test("A newer credential of the same caller replaces a refused one, once in half a minute")
  func replacesOnce() throws {
    var script = SessionScript(.transportWS)
    try script.connect([7])
    script.handle(.offered(SessionScript.headers("two")))
    _ = script.drain()
    #expect(script.session.isConnected)
    script.handle(.closed(code: 4403))
    #expect(script.drain() == ["7 interrupted", "reopen two"])
    script.open()
    script.handle(.offered(SessionScript.headers("three")))
    script.pass(.seconds(29))
    _ = script.drain()
    script.handle(.closed(code: 4403))
    #expect(script.drain() == ["7 refused"])
    #expect(script.session.isFinished)
  }

  @Test("A credential that expires later is replaced again")
  func replacesExpiredCredentials() throws {
    var script = SessionScript(.legacyWS)
    try script.connect([7])
    for token in ["two", "three"] {
      script.pass(.seconds(900))
      script.handle(.offered(SessionScript.headers(token)))
      _ = script.drain()
      script.handle(.closed(code: 4401))
      #expect(script.drain() == ["7 interrupted", "reopen \(token)"])
      script.open()
    }
  }

  @Test("A subscription refused on an old connection is opened again with the newer credential")
  func reopensForNewerCredential() throws {
    var script = SessionScript(.transportWS)
    try script.connect([7])
    _ = script.drain()
    script.handle(.offered(SessionScript.headers("two")))
    let refusal =
      #"{"type":"error","id":"1","payload":[{"message":"x","extensions":{"code":"invalid-jwt"}}]}"#
    script.hear(refusal)
    #expect(script.drain() == ["close 1000", "reopen two"])
  }

  // MARK: Deadlines

  @Test("A handshake, and an acknowledgement, that does not come is given up")
  func hasOpeningDeadlines() throws {
    var script = SessionScript(.transportWS)
    try script.subscribe(7)
    script.pass(.seconds(14))
    #expect(script.drain() == ["open one"])
    script.pass(.seconds(1))
    #expect(script.drain() == ["close 4499", "7 interrupted"])
    script.pass(.milliseconds(500))
    script.handle(.opened(subprotocol: "graphql-transport-ws"))
    for _ in 0..<14 {
      script.pass(.seconds(1))
      script.hear(#"{"type":"ka"}"#)
    }
    _ = script.drain()
    script.pass(.seconds(1))
    #expect(script.drain() == ["close 4499"])
  }

  @Test("A silent connection is pinged, and given up without an answer")
  func noticesHalfOpenConnections() throws {
    var script = SessionScript(.transportWS)
    try script.connect([7])
    script.hear(#"{"type":"pong"}"#)
    _ = script.drain()
    script.pass(.seconds(30))
    #expect(script.drain() == ["send ping"])
    script.hear(#"{"type":"pong"}"#)
    script.pass(.seconds(30))
    #expect(script.drain() == ["send ping"])
    script.pass(.seconds(15))
    #expect(script.drain().prefix(2) == ["close 4499", "7 interrupted"])
  }

  @Test("A server that never answers a ping is not given up for that")
  func toleratesServersWithoutPong() throws {
    var script = SessionScript(.transportWS)
    try script.connect([7])
    script.pass(.seconds(600))
    #expect(script.session.isConnected)
    #expect(!script.drain().contains("close 4499"))
  }

  @Test(
    "Silence counts once a server has sent a heartbeat",
    arguments: [SubscriptionDialect.legacyWS, .eventStream])
  func watchesHeartbeats(dialect: SubscriptionDialect) throws {
    var script = SessionScript(dialect)
    try script.connect([7])
    script.pass(.seconds(600))
    #expect(script.session.isConnected)
    script.handle(.message(.keepAlive))
    script.pass(.seconds(89))
    #expect(script.session.isConnected)
    script.pass(.seconds(1))
    #expect(script.drain().suffix(2) == ["close 4499", "7 interrupted"])
  }

  @Test(
    "AppSync's acknowledgement says how long it can be silent, within bounds",
    arguments: [
      ("300000", 300), ("20000", 20), ("1", 10), ("99999999999", 3_600), ("-5", 300),
      ("\"x\"", 300), ("null", 300),
    ])
  func readsAppSyncsTimeout(text: String, seconds: Int64) throws {
    var script = SessionScript(.appSync)
    try script.subscribe(7)
    script.handle(.opened(subprotocol: "graphql-ws"))
    script.hear(#"{"type":"connection_ack","payload":{"connectionTimeoutMs":\#(text)}}"#)
    script.hear(#"{"type":"start_ack","id":"1"}"#)
    script.pass(.seconds(seconds - 1))
    #expect(script.session.isConnected)
    script.hear(#"{"type":"ka"}"#)
    script.pass(.seconds(seconds - 1))
    #expect(script.session.isConnected)
    script.pass(.seconds(1))
    #expect(!script.session.isConnected)
  }

  @Test("An AppSync connection is replaced before its 24 hours are over")
  func replacesOldConnections() throws {
    var script = SessionScript(.appSync)
    try script.connect([7])
    script.hear(#"{"type":"start_ack","id":"1"}"#)
    _ = script.drain()
    for _ in 0..<(24 * 60) where script.session.isConnected {
      script.pass(.seconds(60))
      if script.drain().contains("reopen one") { return }
      script.hear(#"{"type":"ka"}"#)
    }
    Issue.record("the connection was not replaced")
  }

  @Test("Time in which the connection is not read is not the server's silence")
  func ignoresSilenceWhilePaused() throws {
    var script = SessionScript(.appSync)
    try script.connect([7])
    script.hear(#"{"type":"start_ack","id":"1"}"#)
    script.handle(.paused)
    script.pass(.seconds(3_000))
    #expect(script.session.isConnected)
    script.handle(.resumed)
    script.pass(.seconds(299))
    #expect(script.session.isConnected)
    script.pass(.seconds(1))
    #expect(!script.session.isConnected)
  }

  // MARK: Errors

  @Test(
    "An error ends its subscription with upstream's message, in every form that servers use",
    arguments: [
      (
        .transportWS, #"[{"message":"no such field"},{"message":"second"}]"#,
        "rejected: no such field"
      ),
      (.transportWS, "[]", "rejected: upstream gave no reason"),
      (.legacyWS, #"{"message":"bad"}"#, "rejected: bad"),
      (.legacyWS, #""text""#, "rejected: text"),
      (.legacyWS, #"{"errors":[{"message":"list"}]}"#, "rejected: list"),
      (.legacyWS, "null", "rejected: upstream gave no reason"),
      (.legacyWS, "7", "rejected: upstream gave no reason"),
      (.appSync, #"{"errors":{"errorType":"UnsupportedOperation","message":"m"}}"#, "rejected: m"),
      (
        .appSync, #"{"errors":[{"errorType":"UnsupportedOperation"}]}"#,
        "rejected: UnsupportedOperation"
      ),
      (.appSync, #"{"errors":[{"errorType":"UnauthorizedException","message":"m"}]}"#, "refused"),
      (.appSync, #"{"errors":[{"message":"m","errorCode":401}]}"#, "refused"),
      (.appSync, #"{"errors":[{"message":"m","errorCode":403}]}"#, "forbidden"),
      (.transportWS, #"[{"message":"m","extensions":{"code":"permission-error"}}]"#, "forbidden"),
      (.transportWS, #"[{"message":"m","extensions":{"code":"UNAUTHENTICATED"}}]"#, "refused"),
    ] as [(SubscriptionDialect, String, String)])
  func reportsErrors(dialect: SubscriptionDialect, payload: String, word: String) throws {
    var script = SessionScript(dialect)
    try script.connect([7])
    _ = script.drain()
    script.hear(#"{"type":"error","id":"1","payload":\#(payload)}"#)
    #expect(script.drain() == ["7 \(word)"])
  }

  @Test("An overloaded server is asked again after a delay, a limited number of times")
  func postponesThrottledStarts() throws {
    var script = SessionScript(.appSync)
    try script.connect([7])
    _ = script.drain()
    for attempt in 1...4 {
      script.hear(
        #"{"type":"error","id":"\#(attempt)","payload":{"errors":[{"errorType":"LimitExceededError"}]}}"#
      )
      #expect(script.drain() == (attempt == 1 ? ["7 interrupted"] : []))
      // Within the time that an acknowledgement can take.
      script.pass(.seconds(8))
      #expect(script.drain().first == "send start \(attempt + 1)")
    }
    script.hear(
      #"{"type":"error","id":"5","payload":{"errors":[{"errorType":"LimitExceededError"}]}}"#)
    #expect(script.drain() == ["7 rejected: LimitExceededError"])
  }

  @Test("A rate limit without an id concerns the subscriptions that are being started")
  func takesAnonymousLimits() throws {
    var script = SessionScript(.appSync)
    try script.connect([7, 8])
    script.hear(#"{"type":"start_ack","id":"1"}"#)
    _ = script.drain()
    script.hear(#"{"type":"error","payload":{"errors":[{"errorType":"LimitExceededError"}]}}"#)
    #expect(script.drain() == ["8 interrupted"])
    script.pass(.seconds(2))
    #expect(script.drain() == ["send start 3"])
  }

  @Test("A start that AppSync does not acknowledge is stopped and sent again with another id")
  func repeatsUnacknowledgedStarts() throws {
    var script = SessionScript(.appSync)
    try script.connect([7])
    _ = script.drain()
    script.pass(.seconds(15))
    #expect(script.drain() == ["send stop 1", "7 interrupted"])
    script.pass(.seconds(2))
    #expect(script.drain() == ["send start 2"])
    script.hear(#"{"type":"start_ack","id":"1"}"#)
    #expect(script.drain() == [])
    script.hear(#"{"type":"start_ack","id":"2"}"#)
    #expect(script.drain() == ["7 established"])
  }

  @Test("A subscription that AppSync's connection has no room for moves to another connection")
  func relocates() throws {
    var script = SessionScript(.appSync)
    try script.connect([7, 8])
    script.hear(#"{"type":"start_ack","id":"1"}"#)
    _ = script.drain()
    script.hear(
      #"{"type":"error","id":"2","payload":{"errors":{"errorType":"MaxSubscriptionsReachedError","#
        + #""message":"Max number of 100 subscriptions reached"}}}"#)
    #expect(script.drain() == ["8 relocate"])
    #expect(!script.session.hasRoom)
    script.hear(#"{"type":"data","id":"1","payload":{"data":{}}}"#)
    #expect(script.drain() == [#"7 next {"data":{}}"#])
  }

  @Test(
    "A connection error before the acknowledgement",
    arguments: [
      (.appSync, #"{"errors":[{"errorType":"UnauthorizedException","errorCode":400}]}"#, "refuse"),
      (
        .appSync,
        #"{"errors":[{"errorType":"com.amazonaws.deepdish.graphql.auth#UnauthorizedException"}]}"#,
        "refuse"
      ),
      (.appSync, #"{"errors":[{"errorType":"x","errorCode":403}]}"#, "refuse"),
      (.appSync, #"{"errors":[{"errorType":"BadRequestException","errorCode":400}]}"#, "fail"),
      (.appSync, #"{"errors":[{"errorType":"LimitExceededError"}]}"#, "wait"),
      (.appSync, #"{"errors":[{"errorType":"InternalFailure","errorCode":500}]}"#, "wait"),
      (.legacyWS, #""Could not verify JWT: JWTExpired""#, "refuse"),
      (.legacyWS, #"{"message":"Forbidden"}"#, "refuse"),
    ] as [(SubscriptionDialect, String, String)])
  func takesConnectionErrors(
    dialect: SubscriptionDialect, payload: String, then: String
  ) throws {
    var script = SessionScript(dialect)
    try script.subscribe(7)
    script.handle(.opened(subprotocol: "graphql-ws"))
    script.hear(#"{"type":"connection_error","payload":\#(payload)}"#)
    #expect(script.outcome() == then)
    // What the server sends after it, or its close, changes nothing.
    script.hear(#"{"type":"connection_ack"}"#)
    script.handle(.closed(code: 1011))
    #expect(script.drain() == [])
  }
}
