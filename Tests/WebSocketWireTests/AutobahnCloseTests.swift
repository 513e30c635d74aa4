import TestSupport
import Testing

@testable import WebSocketWire

/// The cases of the Autobahn test suite, group 7: the end of a connection.
struct AutobahnCloseTests {
  private func outcomes(_ frames: [RawFrame]) -> [PeerSimulation.Outcome] {
    var peer = PeerSimulation(.server)
    peer.receive(frames.bytes)
    return peer.outcomes
  }

  private static let normal = PeerSimulation.Outcome.closed(WebSocketClose(code: 1000))

  /// 7.1: nothing after a close frame counts.
  @Test("Frames after a close frame are dropped")
  func framesAfterCloseAreDropped() {
    #expect(outcomes([.text("a"), .close(1000)]) == [.text("a"), Self.normal])
    #expect(outcomes([.close(1000), .close(1000)]) == [Self.normal])
    #expect(outcomes([.close(1000), .ping()]) == [Self.normal])
    #expect(outcomes([.close(1000), .text("a")]) == [Self.normal])
    #expect(
      outcomes([.text("a", isFinal: false), .close(1000), .more("b", isFinal: true)])
        == [Self.normal])
  }

  @Test("A close frame is answered once, with its code")
  func closeFramesAreAnswered() {
    var server = PeerSimulation(.server)
    server.receive([RawFrame.close(3999, Array("bye".utf8)), .close(1000)].bytes)
    #expect(server.outcomes == [.closed(WebSocketClose(code: 3999, reason: "bye"))])
    #expect(server.output == [0x88, 2, 0x0F, 0x9F])
    let ignored = server.ignored
    #expect(ignored > 0)
  }

  /// 7.3.1 to 7.3.6 and 7.5.1.
  @Test("A close frame's payload is nothing, or a code and a reason in UTF-8")
  func closePayloadsAreChecked() {
    #expect(outcomes([.close()]) == [.closed(WebSocketClose(code: 1005))])
    #expect(outcomes([RawFrame(opcode: 8, payload: [3])]) == [.failed(.truncatedCloseCode)])
    let reason = [UInt8](repeating: 0x61, count: 123)
    #expect(
      outcomes([.close(1000, reason)])
        == [.closed(WebSocketClose(code: 1000, reason: String(repeating: "a", count: 123)))])
    #expect(outcomes([.close(1000, reason + [0x61])]) == [.failed(.controlFrameTooLong)])
    #expect(outcomes([.close(1000, [0xCE, 0xBA, 0xE1])]) == [.failed(.invalidCloseReason)])
    #expect(WebSocketFault.invalidCloseReason.closeCode == 1007)
  }

  /// 7.7 and 7.13.
  @Test(
    "Codes that an endpoint can send are accepted",
    arguments: [
      1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000,
      4999,
    ] as [UInt16])
  func validCodesAreAccepted(code: UInt16) {
    #expect(outcomes([.close(code)]) == [.closed(WebSocketClose(code: code))])
  }

  /// 7.9.
  @Test(
    "Reserved codes are refused",
    arguments: [
      0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535,
    ] as [UInt16])
  func invalidCodesAreRefused(code: UInt16) {
    #expect(outcomes([.close(code)]) == [.failed(.invalidCloseCode)])
  }

  @Test("A side that closes waits for the answer and drops messages in between")
  func closingDropsMessages() {
    var client = PeerSimulation(.client)
    client.close(WebSocketClose(code: 1001, reason: "leaving"))
    client.close(WebSocketClose(code: 1000))
    client.receive([RawFrame.text("late"), .ping([1]), .close(1001)].unmasked.bytes)
    #expect(client.outcomes == [.closed(WebSocketClose(code: 1001))])
    #expect(
      echo(of: client, by: .server) == [.closed(WebSocketClose(code: 1001, reason: "leaving"))])
  }

  @Test("A close frame without a sendable code is empty, and a long reason is cut at a character")
  func closeFramesAreValid() {
    var client = PeerSimulation(.client)
    client.close(WebSocketClose(code: 1006, reason: "x"))
    #expect(echo(of: client, by: .server) == [.closed(WebSocketClose(code: 1005))])
    var server = PeerSimulation(.server)
    server.close(WebSocketClose(code: 4000, reason: String(repeating: "é", count: 100)))
    #expect(
      echo(of: server, by: .client)
        == [.closed(WebSocketClose(code: 4000, reason: String(repeating: "é", count: 61)))])
  }

  @Test("Nothing is sent after a close frame")
  func nothingIsSentAfterClose() {
    var server = PeerSimulation(.server)
    server.close(WebSocketClose(code: 1000))
    let count = server.output.count
    server.send(WebSocketMessage(text: "late"))
    #expect(server.output.count == count)
  }
}
