import Testing

@testable import Upstream

/// Silence: how long a session waits for a handshake, an acknowledgement and a sign of the server.
struct SessionDeadlineTests {
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
}
