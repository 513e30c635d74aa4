import Testing

@testable import Upstream

/// Errors that a server reports, of one subscription or of the connection.
struct SessionErrorTests {
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
