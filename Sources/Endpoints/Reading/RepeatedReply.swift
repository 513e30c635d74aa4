import Gateway
import HTTPServer
import HTTPWire

/// A shelved answer for requests with the bytes of one that had it, while it is current and fresh.
final class RepeatedReply: RepeatableAnswer {
  private let entry: ShelvedAnswer
  private let reply: ShelvedReply
  private let cursors: CursorMint

  init(_ entry: ShelvedAnswer, reply: ShelvedReply, cursors: CursorMint) {
    self.entry = entry
    self.reply = reply
    self.cursors = cursors
  }

  func write(stamp: ResponseStamp, into output: inout [UInt8]) -> Bool {
    guard let moment = ShelvedMoment(of: entry, cursors: cursors, stamp: stamp) else {
      return false
    }
    reply.begin(stamp: stamp, into: &output)
    stamp.appendFreshRequestID(to: &output)
    reply.end(at: moment, into: &output)
    return true
  }
}
