import Testing
import WebSocketWire

@testable import WebSockets

struct WebSocketInboxTests {
  private func inbox(messages: Int = 4, bytes: Int = 1000) -> WebSocketInbox {
    var limits = WebSocketLimits()
    limits.waitingMessagesMax = messages
    limits.waitingBytesMax = bytes
    return WebSocketInbox(limits)
  }

  @Test("The socket is not read while the inbox is full, until half is taken")
  func fullInboxesPause() async throws {
    let inbox = inbox()
    for count in 1...4 { #expect(inbox.offer(.binary([1])) == (count == 4)) }
    #expect(inbox.offer(.binary([1])))
    var resumes: [Bool] = []
    for _ in 0..<5 { resumes.append(try await inbox.next().get().resumes) }
    #expect(resumes == [false, false, true, false, false])
    #expect(!inbox.offer(.binary([1])))
  }

  @Test("Bytes fill the inbox too, and one large message always fits")
  func bytesFillTheInbox() async throws {
    let inbox = inbox(bytes: 10)
    #expect(inbox.offer(.binary([UInt8](repeating: 0, count: 5000))))
    #expect(try await inbox.next().get().resumes)
  }

  @Test("Messages before the end are delivered, then the end again and again")
  func messagesBeforeTheEndAreDelivered() async throws {
    let inbox = inbox()
    _ = inbox.offer(WebSocketMessage(text: "a"))
    inbox.finish(WebSocketClose(code: 4000))
    inbox.finish(WebSocketClose(code: 4001))
    #expect(!inbox.offer(WebSocketMessage(text: "late")))
    #expect(try await inbox.next().get().message == WebSocketMessage(text: "a"))
    for _ in 0..<2 {
      guard case .failure(let close) = await inbox.next() else {
        Issue.record("a message after the end")
        return
      }
      #expect(close.code == 4000)
    }
  }

  @Test("A cancelled wait ends, and later messages are kept")
  func cancelledWaitsEnd() async throws {
    let inbox = inbox()
    let reader = Task { await inbox.next() }
    reader.cancel()
    guard case .failure(let close) = await reader.value else {
      Issue.record("a message in an empty inbox")
      return
    }
    #expect(close == .cancelled)
    _ = inbox.offer(WebSocketMessage(text: "a"))
    #expect(try await inbox.next().get().message == WebSocketMessage(text: "a"))
  }
}
