import HTTPWire
import Testing

struct ServerConnectionTests {
  @Test("A pipelined request waits until the response before it is complete")
  func pipelinedRequestsWaitForTheirTurn() {
    var driver = ConnectionDriver()
    driver.receive("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(driver.events == ["request /1", "pause"])
    #expect(driver.connection.responseIsReady(isStreamed: false) == .send)
    #expect(driver.connection.responseEnded() == .nextRequest)
    driver.events = []
    driver.resume()
    #expect(driver.events == ["request /2", "needMore"])
  }

  @Test("Content is delivered and then ends")
  func contentIsDeliveredAndEnds() {
    var driver = ConnectionDriver(bodyBytesMax: 100)
    driver.receive("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab")
    driver.receive("c\r\n2;a=b\r\nde\r\n0\r\nX: y\r\n\r\n")
    #expect(driver.content == "abcde")
    #expect(driver.events.last == "needMore")
    #expect(driver.events.contains("endOfRequest"))
    #expect(driver.connection.awaitsContent == false)
  }

  @Test("100 Continue is due once and only before content")
  func continueIsDueOnceAndOnlyBeforeContent() {
    var driver = ConnectionDriver(bodyBytesMax: 100)
    driver.receive(
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
    let answers = [driver.connection.takeContinue(), driver.connection.takeContinue()]
    #expect(answers == [true, false])
    var eager = ConnectionDriver(bodyBytesMax: 100)
    eager.receive(
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhe")
    let isDue = eager.connection.takeContinue()
    #expect(!isDue)
  }

  @Test("A response in place of 100 Continue closes the connection")
  func responseInPlaceOfContinueClosesTheConnection() {
    var driver = ConnectionDriver(bodyBytesMax: 100)
    driver.receive(
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
    #expect(driver.connection.responseIsReady(isStreamed: false) == .send)
    #expect(driver.connection.connectionField == .close)
    #expect(driver.connection.responseEnded() == .linger)
  }

  @Test("An expectation without content closes the connection")
  func anExpectationWithoutContentClosesTheConnection() {
    var driver = ConnectionDriver(bodyBytesMax: 100)
    driver.receive(
      "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n")
    let isDue = driver.connection.takeContinue()
    #expect(!isDue)
    #expect(driver.connection.responseIsReady(isStreamed: false) == .send)
    #expect(driver.connection.connectionField == .close)
  }

  @Test("A body that announces too much is refused before it is sent")
  func refusesTooLongBodyBeforeItIsSent() {
    var driver = ConnectionDriver(bodyBytesMax: 4)
    driver.receive(
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
    #expect(driver.refusal == .contentTooLarge)
    #expect(driver.connection.connectionField == .close)
    let isDue = driver.connection.takeContinue()
    #expect(!isDue)
  }

  @Test("Chunks beyond the limit are refused")
  func chunksBeyondTheLimitAreRefused() {
    var driver = ConnectionDriver(bodyBytesMax: 4)
    driver.receive("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n")
    #expect(driver.refusal == nil)
    driver.receive("1\r\n")
    #expect(driver.refusal == .contentTooLarge)
  }

  @Test("An early response waits for a short body")
  func earlyResponseWaitsForAShortBody() {
    var driver = ConnectionDriver(bodyBytesMax: 1000)
    driver.receive("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345")
    #expect(driver.connection.responseIsReady(isStreamed: false) == .waitForBody)
    driver.events = []
    driver.receive("67890GET /2 HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(driver.events == ["ignored", "endOfRequest", "pause"])
    #expect(driver.connection.responseEnded() == .nextRequest)
    driver.events = []
    driver.resume()
    #expect(driver.events == ["request /2", "needMore"])
  }

  @Test("An early response does not wait for a long body")
  func earlyResponseDoesNotWaitForALongBody() {
    let limits = ServerConnectionLimits(drainBytesMax: 100)
    var driver = ConnectionDriver(limits: limits, bodyBytesMax: 1000)
    driver.receive("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500\r\n\r\n12345")
    #expect(driver.connection.responseIsReady(isStreamed: false) == .send)
    #expect(driver.connection.connectionField == .close)
    #expect(driver.connection.responseEnded() == .linger)
  }

  @Test("The draining of chunks is limited")
  func drainingOfChunksIsBounded() {
    let limits = ServerConnectionLimits(drainBytesMax: 100)
    var driver = ConnectionDriver(limits: limits, bodyBytesMax: 100_000)
    driver.receive("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    #expect(driver.connection.responseIsReady(isStreamed: false) == .waitForBody)
    driver.events = []
    driver.receive("ff\r\n\(String(repeating: "x", count: 255))\r\n")
    #expect(driver.events.first == "endOfRequest")
    #expect(driver.connection.connectionField == .close)
  }

  @Test("Lingering is limited")
  func lingeringIsBounded() {
    let limits = ServerConnectionLimits(lingerBytesMax: 10)
    var driver = ConnectionDriver(limits: limits)
    driver.receive("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    #expect(driver.connection.responseIsReady(isStreamed: false) == .send)
    #expect(driver.connection.responseEnded() == .linger)
    driver.events = []
    driver.receive("0123456789")
    #expect(driver.events == ["ignored", "needMore"])
    driver.receive("0")
    #expect(driver.events.last == "close")
  }

  @Test("The number of requests on a connection is limited")
  func requestsOnAConnectionAreCounted() {
    var driver = ConnectionDriver(limits: ServerConnectionLimits(requestsMax: 2))
    driver.receive("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(driver.connection.connectionField == .none)
    #expect(driver.connection.responseEnded() == .nextRequest)
    driver.receive("GET /2 HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(driver.connection.connectionField == .close)
    #expect(driver.connection.responseEnded() == .linger)
  }

  @Test("An HTTP/1.0 client gets Connection: keep-alive")
  func http10ClientsGetKeepAlive() {
    var driver = ConnectionDriver()
    driver.receive("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
    #expect(driver.connection.connectionField == .keepAlive)
  }

  @Test("A timeout refuses an unfinished head or body and closes an idle connection")
  func timeoutsRefuseHeadsAndBodiesButCloseIdleConnections() {
    var idle = ConnectionDriver()
    #expect(idle.connection.timedOut() == .close)
    var head = ConnectionDriver()
    head.receive("GET / HT")
    #expect(head.connection.timedOut() == .refuse(.timedOut))
    var body = ConnectionDriver(bodyBytesMax: 10)
    body.receive("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab")
    #expect(body.connection.timedOut() == .refuse(.timedOut))
    #expect(body.connection.responseIsReady(isStreamed: false) == .discard)
    #expect(body.connection.responseEnded() == .linger)
  }

  @Test("A half-closed client gets its response")
  func halfClosedClientsGetTheirResponse() {
    var driver = ConnectionDriver()
    driver.receive("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(driver.connection.endOfInput() == .finishResponse)
    #expect(driver.connection.connectionField == .close)
    var missing = ConnectionDriver(bodyBytesMax: 10)
    missing.receive("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab")
    #expect(missing.connection.endOfInput() == .endContent)
    #expect(missing.connection.awaitsContent == false)
    #expect(missing.connection.responseIsReady(isStreamed: false) == .send)
    #expect(missing.connection.connectionField == .close)
    #expect(missing.connection.responseEnded() == .linger)
  }

  @Test("A response that waits for a body is sent if the body is cut short")
  func responseWaitingForATruncatedBodyIsSent() {
    var driver = ConnectionDriver(bodyBytesMax: 10)
    driver.receive("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab")
    #expect(driver.connection.responseIsReady(isStreamed: false) == .waitForBody)
    #expect(driver.connection.endOfInput() == .endContent)
    #expect(driver.connection.responseEnded() == .linger)
  }

  @Test("A malformed body during a response closes the connection at once")
  func faultDuringAResponseClosesAtOnce() {
    var driver = ConnectionDriver(bodyBytesMax: 100)
    driver.receive("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
    #expect(driver.connection.responseIsReady(isStreamed: true) == .send)
    driver.receive("nonsense")
    #expect(driver.events.last == "close")
    #expect(driver.connection.responseEnded() == .close)
  }
}
