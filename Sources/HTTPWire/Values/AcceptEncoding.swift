/// The value of `Accept-Encoding`, reduced to the codings the server writes (RFC 9110 12.5.3).
package struct AcceptEncoding: Sendable, Hashable {
  /// Thousandths, since quality values have three decimals; `nil` if not listed.
  private var gzip: Int?
  private var identity: Int?
  private var any: Int?

  /// Parses a value; malformed elements are ignored.
  package init(_ text: String) {
    self.init(ArraySlice(Array(text.utf8)))
  }

  /// Parses a value given as bytes.
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

  /// The coding to respond with if both are available. Identity if the client refuses both: a response
  /// is better than none.
  package var preferred: ContentCoding {
    let gzipQuality = gzip ?? any ?? 0
    guard gzipQuality > 0 else { return .identity }
    return gzipQuality >= (identity ?? 0) ? .gzip : .identity
  }
}

/// The content codings that the server writes (RFC 9110 8.4.1).
package enum ContentCoding: String, Sendable, Hashable {
  case identity
  case gzip
}

/// One element of an `Accept…` list: a token and its quality (RFC 9110 12.4.2).
struct WeightedToken {
  let token: ArraySlice<UInt8>
  /// 0–1000.
  let thousandths: Int

  /// Parses an element; nil if its quality is malformed.
  init?(_ element: ArraySlice<UInt8>) {
    let semicolon = element.firstIndex(of: ASCII.semicolon)
    token = element[element.startIndex..<(semicolon ?? element.endIndex)].trimmingBlanks
    guard !token.isEmpty else { return nil }
    guard let semicolon else {
      thousandths = 1000
      return
    }
    let weight = element[(semicolon + 1)...].trimmingBlanks
    guard weight.count > 2, weight.prefix(2).equalsIgnoringCase("q="),
      let value = Self.thousandths(weight.dropFirst(2))
    else { return nil }
    thousandths = value
  }

  /// `0`, `0.8`, `1.000`: at most three decimals, at most one.
  private static func thousandths(_ text: ArraySlice<UInt8>) -> Int? {
    guard let first = text.first, first == 0x30 || first == 0x31, text.count <= 5 else {
      return nil
    }
    var value = Int(first &- 0x30) * 1000
    let rest = text.dropFirst()
    if rest.isEmpty { return value }
    guard rest.first == UInt8(ascii: ".") else { return nil }
    var unit = 100
    for digit in rest.dropFirst() {
      guard digit.isDigit else { return nil }
      value += Int(digit &- 0x30) * unit
      unit /= 10
    }
    return value <= 1000 ? value : nil
  }
}

/// A comma-separated list of tokens, such as `Connection`, `Vary` or `Allow` (RFC 9110 5.6.1).
package struct TokenList: Sendable, Hashable {
  /// The tokens as written, without empty elements.
  package let tokens: [String]

  package init(_ text: String) {
    tokens = text.split(separator: ",").compactMap { element in
      let token = ArraySlice(Array(element.utf8)).trimmingBlanks
      return token.isEmpty ? nil : token.text
    }
  }

  /// Returns whether a token is in the list, ignoring the case of ASCII letters.
  package func contains(_ token: String) -> Bool {
    tokens.contains { $0.utf8.count == token.utf8.count && $0.lowercased() == token.lowercased() }
  }
}
