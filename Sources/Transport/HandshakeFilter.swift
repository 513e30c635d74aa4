import CLinux
import Glibc

/// Has a listening socket begin no more connections while it ends.
///
/// Closing a listener resets whoever has connected and not been accepted, and connections keep
/// coming in between the last `accept` and `close`. So before that the socket is made deaf: for TCP
/// by a filter (socket(7), SO_ATTACH_FILTER) that drops segments which ask for a connection. What
/// has begun goes on, and the client's next attempt, a second later, finds whoever listens then.
enum HandshakeFilter {
  /// Where the flags stand in a TCP header (RFC 9293 3.1): a filter of a TCP socket sees it first.
  private static let flagsOffset: UInt32 = 13
  private static let flagsOfInterest: UInt32 = 0x16  // SYN, RST, ACK
  private static let flagsOfFirstSegment: UInt32 = 0x02  // SYN alone
  private static let wholeSegment = UInt32.max

  /// Returns whether the socket is deaf now. Some sandboxes do not know filters.
  static func attach(to socket: Int32, isTCP: Bool) -> Bool {
    // A Unix socket says it with a call of its own: who connects is refused, who has is accepted.
    guard isTCP else { return shutdown(socket, Int32(SHUT_RD)) == 0 }
    var program = [
      sock_filter(code: UInt16(BPF_LD | BPF_B | BPF_ABS), jt: 0, jf: 0, k: flagsOffset),
      sock_filter(code: UInt16(BPF_ALU | BPF_AND | BPF_K), jt: 0, jf: 0, k: flagsOfInterest),
      sock_filter(code: UInt16(BPF_JMP | BPF_JEQ | BPF_K), jt: 0, jf: 1, k: flagsOfFirstSegment),
      sock_filter(code: UInt16(BPF_RET | BPF_K), jt: 0, jf: 0, k: 0),
      sock_filter(code: UInt16(BPF_RET | BPF_K), jt: 0, jf: 0, k: wholeSegment),
    ]
    return program.withUnsafeMutableBufferPointer { program in
      var filter = sock_fprog(len: UInt16(program.count), filter: program.baseAddress)
      let size = socklen_t(MemoryLayout<sock_fprog>.size)
      return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, size) == 0
    }
  }
}
