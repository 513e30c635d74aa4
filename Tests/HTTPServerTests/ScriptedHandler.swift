import HTTPServer
import HTTPWire

/// A handler made of closures.
struct ScriptedHandler: RequestHandler {
  var look: @Sendable (borrowing RequestHead, ResponseStamp, inout [UInt8]) -> Bool = { _, _, _ in
    false
  }
  var bodyBytesMax: Int?
  var answer: @Sendable (ServerRequest) async -> ServerResponse

  init(
    bodyBytesMax: Int? = nil, answer: @escaping @Sendable (ServerRequest) async -> ServerResponse
  ) {
    self.bodyBytesMax = bodyBytesMax
    self.answer = answer
  }

  func answerAtOnce(
    _ head: borrowing RequestHead, stamp: ResponseStamp, into output: inout [UInt8]
  ) -> Bool {
    look(head, stamp, &output)
  }

  func contentRule(for head: borrowing RequestHead) -> ContentRule {
    ContentRule(bytesMax: bodyBytesMax)
  }

  func respond(to request: ServerRequest) async -> ServerResponse { await answer(request) }
}
