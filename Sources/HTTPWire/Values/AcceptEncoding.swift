/// What `Accept-Encoding` says of the codings that are written (RFC 9110 12.5.3).
package struct AcceptEncoding: Sendable, Hashable {
  /// Thousandths, as quality values have three decimals; `nil` where nothing is said.
  private var gzip: Int?
  private var identity: Int?
  private var any: Int?

  /// Reads a value; elements that are none are passed over.
  package init(_ text: String) {
    self.init(ArraySlice(Array(text.utf8)))
  }

  /// As `init(_:)` of the text.
  package init(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    while !rest.isEmpty {
      // Not `split`: nearly every client sends this field, and an array of slices is on the heap.
      let end = rest.firstIndex(of: ASCII.comma) ?? rest.endIndex
      let element = rest[rest.startIndex..<end]
      rest = end < rest.endIndex ? rest[(end + 1)...] : []
      guard let weighted = WeightedToken(element) else { continue }
      if weighted.token.equalsIgnoringCase("gzip") || weighted.token.equalsIgnoringCase("x-gzip") {
        gzip = weighted.thousandths
      } else if weighted.token.equalsIgnoringCase("identity") {
        identity = weighted.thousandths
      } else if weighted.token.equalsIgnoringCase("*") {
        any = weighted.thousandths
      }
    }
  }

  /// The coding to answer with, given that both are at hand. Where the client refuses both,
  /// identity: an answer beats none.
  package var preferred: ContentCoding {
    let gzipQuality = gzip ?? any ?? 0
    guard gzipQuality > 0 else { return .identity }
    return gzipQuality >= (identity ?? 0) ? .gzip : .identity
  }
}
