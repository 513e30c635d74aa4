import LosslessJSON
import Testing

@testable import Upstream

/// The order of messages in each dialect, and what a server may send in between.
struct SubscriptionSessionTests {
  @Test("graphql-transport-ws: init, ack, subscribe, confirmed by a pong, next, complete")
  func speaksTransportWS() throws {
    var script = SessionScript(.transportWS)
    try script.subscribe(7)
    #expect(script.drain() == ["open one"])
    script.handle(.opened(subprotocol: "graphql-transport-ws"))
    #expect(script.drain() == ["send connection_init"])
    script.hear(#"{"type":"connection_ack","payload":{}}"#)
    #expect(script.drain() == ["send subscribe 1", "send ping"])
    script.hear(#"{"type":"pong"}"#)
    #expect(script.drain() == ["7 established"])
    script.hear(#"{"type":"next","id":"1","payload":{"data":{"a":1}}}"#)
    script.hear(#"{"type":"complete","id":"1"}"#)
    #expect(script.drain() == [#"7 next {"data":{"a":1}}"#, "7 complete"])
  }

  @Test("The older graphql-ws: init, ack, start, data, complete; ka before the ack is tolerated")
  func speaksLegacyWS() throws {
    var script = SessionScript(.legacyWS)
    try script.subscribe(7)
    script.handle(.opened(subprotocol: "graphql-ws"))
    script.hear(#"{"type":"ka"}"#)
    #expect(script.drain() == ["open one", "send connection_init"])
    script.hear(#"{"type":"connection_ack"}"#)
    #expect(script.drain() == ["send start 1", "7 established"])
    script.hear(#"{"type":"data","id":"1","payload":{"data":{"a":1}}}"#)
    script.handle(.cancel(7))
    script.hear(#"{"type":"complete","id":"1"}"#)
    #expect(script.drain() == [#"7 next {"data":{"a":1}}"#, "send stop 1"])
  }

  @Test("AppSync: a subscription is established by start_ack")
  func speaksAppSync() throws {
    var script = SessionScript(.appSync)
    try script.subscribe(7)
    script.handle(.opened(subprotocol: "graphql-ws"))
    script.hear(#"{"type":"connection_ack","payload":{"connectionTimeoutMs":300000}}"#)
    script.hear(#"{"type":"ka"}"#)
    #expect(script.drain() == ["open one", "send connection_init", "send start 1"])
    script.hear(#"{"type":"start_ack","id":"1"}"#)
    script.hear(#"{"type":"data","id":"1","payload":{"data":{"a":1}}}"#)
    #expect(script.drain() == ["7 established", #"7 next {"data":{"a":1}}"#])
  }

  @Test("An event stream is established by its head, and ends with its subscription")
  func speaksEventStream() throws {
    var script = SessionScript(.eventStream)
    try script.subscribe(7)
    script.handle(.opened(subprotocol: nil))
    #expect(script.drain() == ["open one", "7 established"])
    #expect(!script.session.hasRoom)
    script.handle(.cancel(7))
    #expect(script.drain() == ["close 1000"])
    #expect(script.session.isFinished)
  }

  @Test("A server that is offered both subprotocols decides")
  func followsTheServersChoice() throws {
    var script = SessionScript(offersBoth: true)
    try script.subscribe(7)
    script.handle(.opened(subprotocol: "graphql-ws"))
    script.hear(#"{"type":"connection_ack"}"#)
    #expect(
      script.drain() == ["open one", "send connection_init", "send start 1", "7 established"])
  }

  @Test("A server that chooses no offered subprotocol is not used", arguments: [nil, "soap"])
  func refusesOtherSubprotocols(chosen: String?) throws {
    var script = SessionScript(.transportWS)
    try script.subscribe(7)
    script.handle(.opened(subprotocol: chosen))
    let drained = script.drain()
    #expect(drained.contains("close 1002"))
    #expect(drained.last?.hasPrefix("7 rejected: the server chose ") == true)
    #expect(script.session.isFinished)
  }

  @Test("Without a pong a subscription counts as established after two seconds, or with its event")
  func toleratesMissingPongs() throws {
    var script = SessionScript(.transportWS)
    try script.connect([7])
    _ = script.drain()
    script.pass(.seconds(3))
    #expect(script.drain() == ["7 established"])

    script = SessionScript(.transportWS)
    try script.connect([7])
    _ = script.drain()
    script.hear(#"{"type":"next","id":"1","payload":{"data":{}}}"#)
    script.hear(#"{"type":"pong"}"#)
    #expect(script.drain() == ["7 established", #"7 next {"data":{}}"#])
  }

  @Test("Messages for unknown ids, repeated acks, pongs and unknown types are ignored")
  func ignoresStrayMessages() throws {
    var script = SessionScript(.transportWS)
    try script.connect([7])
    script.hear(#"{"type":"pong"}"#)
    _ = script.drain()
    for text in [
      #"{"type":"connection_ack"}"#, #"{"type":"pong"}"#, #"{"type":"tick"}"#,
      #"{"type":"next","id":"9","payload":{"data":{}}}"#, #"{"type":"complete","id":"9"}"#,
      #"{"type":"error","id":"9","payload":[{"message":"x"}]}"#, #"{"type":"ka"}"#,
      #"{"type":"complete"}"#,
    ] {
      script.hear(text)
    }
    #expect(script.drain() == [])
    #expect(script.session.phase == .ready(.transportWS))
  }

  @Test("Nothing follows a subscription's end")
  func nothingFollowsTheEnd() throws {
    var script = SessionScript(.transportWS)
    try script.connect([7, 8])
    script.hear(#"{"type":"pong"}"#)
    script.hear(#"{"type":"complete","id":"1"}"#)
    _ = script.drain()
    script.hear(#"{"type":"next","id":"1","payload":{"data":{}}}"#)
    script.hear(#"{"type":"error","id":"1","payload":[]}"#)
    script.handle(.cancel(7))
    script.handle(.closed(code: 1006))
    #expect(script.drain() == ["8 interrupted"])
  }

  @Test("A ping is answered, before the acknowledgement too, without its payload")
  func answersPings() throws {
    var script = SessionScript(.transportWS)
    try script.subscribe(7)
    script.handle(.opened(subprotocol: "graphql-transport-ws"))
    script.hear(#"{"type":"ping","payload":{"message":"keepalive"}}"#)
    #expect(script.drain() == ["open one", "send connection_init", "send pong"])
    #expect(UpstreamMessageWriter.pong == Array(#"{"type":"pong"}"#.utf8))
  }

  @Test(
    "A message that is none of the protocol ends the connection, which is made again",
    arguments: [
      "", "{", "[]", "7", "{\"type\":7}", "{}", #"{"type":"next","id":"1"}"#,
      #"{"type":"next","payload":{"data":{}}}"#, "{\"type\":\"\u{0}\"}",
    ])
  func closesOnInvalidMessages(text: String) throws {
    var script = SessionScript(.transportWS)
    try script.connect([7])
    script.hear(#"{"type":"pong"}"#)
    _ = script.drain()
    script.hear(text)
    #expect(script.drain() == ["close 4400", "7 interrupted"])
    script.pass(.seconds(60))
    #expect(script.drain().first == "reopen one")
  }

  @Test("A message above the limit ends the connection")
  func closesOnLargeMessages() throws {
    var limits = SubscriptionLimits()
    limits.messageBytesMax = 100
    var script = SessionScript(.transportWS, limits: limits)
    try script.connect([7])
    _ = script.drain()
    script.hear(
      #"{"type":"next","id":"1","payload":""# + String(repeating: "x", count: 100) + "\"}")
    #expect(script.drain() == ["close 4400", "7 interrupted"])
  }

  @Test("A flood of messages without an event ends the connection; as many events do not")
  func closesOnFloods() throws {
    var script = SessionScript(.transportWS)
    try script.connect([7])
    script.hear(#"{"type":"pong"}"#)
    _ = script.drain()
    for _ in 0..<2_000 { script.hear(#"{"type":"next","id":"1","payload":{"data":{}}}"#) }
    #expect(script.drain().count == 2_000)
    for _ in 0..<900 { script.hear(#"{"type":"ping"}"#) }
    #expect(script.session.isConnected)
    script.pass(.seconds(1))
    for _ in 0..<1_000 { script.hear(#"{"type":"ping"}"#) }
    #expect(script.session.isConnected)
    _ = script.drain()
    script.hear(#"{"type":"ping"}"#)
    #expect(script.drain().suffix(2) == ["close 4400", "7 interrupted"])
  }

  @Test("Late subscriptions start on the open connection; their ids are never used twice")
  func startsLateSubscriptions() throws {
    var script = SessionScript(.legacyWS)
    try script.connect([7])
    script.handle(.cancel(7))
    try script.subscribe(8)
    #expect(script.drain().suffix(3) == ["send stop 1", "send start 2", "8 established"])
    script.handle(.closed(code: 1006))
    script.pass(.seconds(2))
    script.open()
    #expect(script.drain().suffix(2) == ["send start 3", "8 re-established"])
  }

  @Test("A connection without subscriptions closes after five seconds, and not before")
  func closesIdleConnections() throws {
    var script = SessionScript(.transportWS)
    try script.connect([7])
    script.hear(#"{"type":"pong"}"#)
    script.handle(.cancel(7))
    _ = script.drain()
    script.pass(.seconds(4))
    try script.subscribe(8)
    script.pass(.seconds(4))
    #expect(script.session.isConnected)
    script.handle(.cancel(8))
    _ = script.drain()
    script.pass(.seconds(6))
    #expect(script.drain() == ["close 1000"])
    #expect(script.session.isFinished)
    #expect(script.session.deadline == nil)
  }

  @Test("A stopped session ends all subscriptions")
  func stops() throws {
    var script = SessionScript(.transportWS)
    try script.connect([7, 8])
    _ = script.drain()
    script.handle(.stopped)
    #expect(script.drain().first == "close 1001")
    #expect(script.session.isFinished)
  }
}
