import Testing
import Transport
import WebSockets

struct WebSocketKeepAliveTests {
  private func at(_ seconds: Int) -> LoopInstant {
    LoopInstant(nanoseconds: UInt64(seconds) * 1_000_000_000)
  }

  private func make() -> WebSocketKeepAlive {
    WebSocketKeepAlive(interval: .seconds(30), timeout: .seconds(20), at: at(0))
  }

  @Test("A silent peer is pinged, and lost when it does not answer")
  func silentPeersAreLost() {
    var keepAlive = make()
    #expect(keepAlive.deadline == at(30))
    #expect(keepAlive.advance(to: at(29)) == .none)
    #expect(keepAlive.advance(to: at(30)) == .ping)
    #expect(keepAlive.deadline == at(50))
    #expect(keepAlive.advance(to: at(49)) == .none)
    #expect(keepAlive.advance(to: at(50)) == .lost)
  }

  @Test("Any bytes after the ping show that the peer is there")
  func bytesAreAnAnswer() {
    var keepAlive = make()
    #expect(keepAlive.advance(to: at(30)) == .ping)
    keepAlive.heard()
    #expect(keepAlive.deadline == at(60))
    #expect(keepAlive.advance(to: at(50)) == .none)
    #expect(keepAlive.advance(to: at(60)) == .ping)
  }

  @Test("One ping is outstanding at a time")
  func oneIsOutstanding() {
    var keepAlive = WebSocketKeepAlive(interval: .seconds(5), timeout: .seconds(20), at: at(0))
    #expect(keepAlive.advance(to: at(5)) == .ping)
    #expect(keepAlive.advance(to: at(10)) == .none)
    #expect(keepAlive.advance(to: at(25)) == .lost)
  }

  @Test("A pause of this side's reading does not count against the peer")
  func pausesDoNotCount() {
    var keepAlive = make()
    #expect(keepAlive.advance(to: at(30)) == .ping)
    keepAlive.pause(at: at(40))
    #expect(keepAlive.deadline == .distantFuture)
    #expect(keepAlive.advance(to: at(500)) == .none)
    keepAlive.resume(at: at(500))
    #expect(keepAlive.advance(to: at(509)) == .none)
    #expect(keepAlive.advance(to: at(510)) == .lost)
  }

  @Test("A peer that still reads gets more time")
  func progressExtendsTheDeadline() {
    var keepAlive = make()
    #expect(keepAlive.advance(to: at(30)) == .ping)
    keepAlive.extend(at: at(50))
    #expect(keepAlive.advance(to: at(69)) == .none)
    #expect(keepAlive.advance(to: at(70)) == .lost)
  }

  @Test("Without an interval there is no ping")
  func noIntervalMeansNoPing() {
    var keepAlive = WebSocketKeepAlive(interval: .zero, timeout: .seconds(1), at: at(0))
    #expect(keepAlive.deadline == .distantFuture)
    #expect(keepAlive.advance(to: at(1 << 20)) == .none)
  }

  @Test("A peer that stalls, or reads a few bytes at a time, is too slow")
  func slowReadersAreFound() {
    func isTooSlow(_ pace: inout WebSocketSendPace, _ bytes: Int, _ seconds: Int) -> Bool {
      pace.isTooSlow(
        bytes: bytes, at: at(seconds), stallMax: .seconds(30), bytesPerSecondMin: 240)
    }
    var stalled = WebSocketSendPace(bytes: 100, at: at(0))
    #expect(!isTooSlow(&stalled, 100, 29))
    #expect(isTooSlow(&stalled, 100, 30))
    var sipping = WebSocketSendPace(bytes: 100, at: at(0))
    #expect(!isTooSlow(&sipping, 101, 20))
    #expect(isTooSlow(&sipping, 102, 31))
    var steady = WebSocketSendPace(bytes: 0, at: at(0))
    for second in 1...100 { #expect(!isTooSlow(&steady, second * 300, second)) }
    #expect(isTooSlow(&steady, 30_000, 130))
  }
}
