import Gateway
import HTTPServer

/// A shelved object for requests with the bytes of one that had it, while it stands.
final class RepeatedFile: RepeatableAnswer {
  private let entry: ShelvedFile
  private let reply: ShelvedFileReply

  init(_ entry: ShelvedFile, reply: ShelvedFileReply) {
    self.entry = entry
    self.reply = reply
  }

  func write(stamp: ResponseStamp, into output: inout [UInt8]) -> Bool {
    guard entry.file.isCurrent else { return false }
    reply.begin(stamp: stamp, into: &output)
    stamp.appendFreshRequestID(to: &output)
    reply.end(into: &output)
    return true
  }
}
