import Testing

@testable import Upstream

/// Lost and refused connections, and the credentials that the next ones are made with.
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
}
