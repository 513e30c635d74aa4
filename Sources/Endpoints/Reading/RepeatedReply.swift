import Gateway
import HTTPServer
import HTTPWire

/// A shelved answer for requests with the bytes of one that had it, while it is current and fresh.
final class RepeatedReply: RepeatableAnswer {
  private let entry: CachedResponse
  private let reply: CachedResponseChoice
  private let cursors: CursorIssuer

  init(_ entry: CachedResponse, reply: CachedResponseChoice, cursors: CursorIssuer) {
    self.entry = entry
    self.reply = reply
    self.cursors = cursors
  }

  func write(stamp: ResponseStamp, into output: inout [UInt8]) -> Bool {
    guard let moment = CachedResponseMoment(of: entry, cursors: cursors, stamp: stamp) else {
      return false
    }
    reply.begin(stamp: stamp, into: &output)
    stamp.appendFreshRequestID(to: &output)
    reply.end(at: moment, into: &output)
    return true
  }
}
