/// Encoder for the chunked transfer coding (RFC 9112 7.1).
package enum ChunkEncoder {
  /// The end of a chunked body without trailer fields.
  static let lastChunk: StaticString = "0\r\n\r\n"

  /// Appends the line before a chunk's content. An empty chunk would end the body, so `count` is
  /// at least 1.
  package static func appendHead(count: Int, to output: inout [UInt8]) {
    precondition(count > 0, "an empty chunk ends the body")
    var shift = (Int.bitWidth - count.leadingZeroBitCount - 1) / 4 * 4
    while shift >= 0 {
      let digit = UInt8(truncatingIfNeeded: count >> shift) & 0xF
      output.append(digit < 10 ? 0x30 + digit : 0x57 + digit)
      shift -= 4
    }
    appendTail(to: &output)
  }

  /// Appends the CRLF after a chunk's content.
  package static func appendTail(to output: inout [UInt8]) {
    output.append(ASCII.carriageReturn)
    output.append(ASCII.lineFeed)
  }

  /// Appends a whole chunk; nothing for empty content.
  package static func append(_ content: some Collection<UInt8>, to output: inout [UInt8]) {
    guard !content.isEmpty else { return }
    appendHead(count: content.count, to: &output)
    output.append(contentsOf: content)
    appendTail(to: &output)
  }

  /// Appends the end of the body.
  package static func appendEnd(to output: inout [UInt8]) {
    output.append(lastChunk)
  }
}
