import Gateway
import HTTPServer

/// A shelved object for requests with the bytes of one that had it, while it stands.
final class RepeatedFile: RepeatableAnswer {
  private let entry: CachedFile
  private let reply: CachedFileChoice

  init(_ entry: CachedFile, reply: CachedFileChoice) {
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
