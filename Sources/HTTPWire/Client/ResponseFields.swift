/// What the fields that rule framing and connection of a response have said so far.
///
/// Equal Content-Lengths are taken as one, since old servers repeat it; anything that leaves two
/// readings is an error, for a gateway would pass the wrong one on.
struct ResponseFields: Sendable {
  private var contentLength: Int?
  private var transferEncodings = 0
  private var options = ConnectionOptions()
  private var hasUpgrade = false

  mutating func take(
    _ bytes: UnsafeRawBufferPointer, _ line: FieldSection.Line
  ) throws(ResponseError) {
    let name = line.name.asInt
    let value = line.value.asInt
    switch name.count {
    case 7 where ByteScan.equals(bytes, name, "upgrade"):
      hasUpgrade = true
    case 10 where ByteScan.equals(bytes, name, "connection"):
      options.add(bytes, value)
    case 14 where ByteScan.equals(bytes, name, "content-length"):
      try takeContentLength(bytes, value)
    case 17 where ByteScan.equals(bytes, name, "transfer-encoding"):
      transferEncodings += 1
      guard transferEncodings == 1, ByteScan.equals(bytes, value, "chunked") else {
        throw .unknownTransferCoding
      }
    default:
      break
    }
  }

  func finish(_ head: inout ResponseHead) throws(ResponseError) {
    // A status without content has none, whatever its fields say (RFC 9112 6.3).
    let isBodiless = head.status < 200 || head.status == 204 || head.status == 304
    if contentLength != nil, transferEncodings > 0, !isBodiless { throw .conflictingFraming }
    head.contentLength = contentLength
    head.isChunked = transferEncodings > 0
    head.keepsAlive = options.persists(minorVersion: head.minorVersion)
    head.asksForUpgrade = hasUpgrade && options.upgrade
  }

  private mutating func takeContentLength(
    _ bytes: UnsafeRawBufferPointer, _ value: Range<Int>
  ) throws(ResponseError) {
    var elements: [Range<Int>] = []
    ListElements.forEach(bytes, value) { elements.append($0) }
    guard !elements.isEmpty else { throw .malformedContentLength }
    for element in elements {
      guard case .bytes(let length) = ContentLength.parse(bytes, element) else {
        throw .malformedContentLength
      }
      if let known = contentLength, known != length { throw .conflictingContentLengths }
      contentLength = length
    }
  }
}
