import HTTPWire
import Testing

struct ClientConnectionTests {
  @Test("A 100 Continue response is reported as an event")
  func reportsContinue() {
    var client = ClientSimulation(method: .post)
    client.receive(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)[...])
    #expect(client.continues == 1)
    #expect(client.status == nil)
  }

  @Test("A requested 101 response switches protocols")
  func switchesProtocolsOnRequest() {
    var client = ClientSimulation(method: .get, asksForUpgrade: true)
    client.receive(
      Array("HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nframes".utf8)[...])
    #expect(client.status == 101)
    #expect(client.body == Array("frames".utf8))
    #expect(!client.canBeReused)
  }

  @Test("A close before the response differs from a close within it")
  func distinguishesCloseBeforeAnyByte() {
    var silent = ClientSimulation(method: .get)
    silent.receiveEnd()
    #expect(silent.error == .closedBeforeResponse)
    var partial = ClientSimulation(method: .get)
    partial.receive(Array("HTT".utf8)[...])
    partial.receiveEnd()
    #expect(partial.error == .closedInsideResponse)
  }

  @Test("Bytes without a request end the connection")
  func refusesUnsolicitedBytes() {
    var connection = ClientConnection(bodyLimits: BodyLimits())
    #expect(connection.canBeReused)
    Array("HTTP/1.1 408 X\r\n\r\n".utf8).withUnsafeBytes { raw in
      var offset = 0
      #expect(throws: ResponseError.unsolicitedBytes) { try connection.next(raw, from: &offset) }
    }
    #expect(!connection.canBeReused)
  }

  @Test("Connection: close from either side prevents reuse")
  func honoursCloseFromEitherSide() {
    var asked = ClientConnection(bodyLimits: BodyLimits())
    asked.requestSent(method: .get, closes: true)
    #expect(reads(&asked, "HTTP/1.1 204 X\r\n\r\n"))
    #expect(!asked.canBeReused)
    var told = ClientConnection(bodyLimits: BodyLimits())
    told.requestSent(method: .get)
    #expect(reads(&told, "HTTP/1.1 204 X\r\nConnection: close\r\n\r\n"))
    #expect(!told.canBeReused)
  }

  @Test("A response body beyond the limit is an error")
  func refusesTooLargeBody() {
    var connection = ClientConnection(bodyLimits: BodyLimits(bodyBytesMax: 4))
    connection.requestSent(method: .get)
    Array("HTTP/1.1 200 X\r\nContent-Length: 5\r\n\r\n".utf8).withUnsafeBytes { raw in
      var offset = 0
      #expect(throws: ResponseError.body(.tooLarge)) { try connection.next(raw, from: &offset) }
    }
  }

  private func reads(_ connection: inout ClientConnection, _ text: String) -> Bool {
    Array(text.utf8).withUnsafeBytes { raw in
      var offset = 0
      while let event = try? connection.next(raw, from: &offset), event != .needMore {
        if event == .endOfResponse { return true }
      }
      return false
    }
  }
}
