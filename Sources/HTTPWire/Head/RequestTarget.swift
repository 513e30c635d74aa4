/// A request target split into its parts, as offsets into the head (RFC 9112 3.2).
struct RequestTarget: Sendable {
  var whole: Range<Int>
  /// Never empty: `/…`, or `*` for the asterisk form.
  var path: Range<Int>
  /// What follows the first `?`.
  var query: Range<Int>?
  /// The authority of the absolute form; it takes precedence over `Host`.
  var authority: Range<Int>?

  /// Splits and checks a target. The form for CONNECT is not supported, like the method.
  static func parse(
    _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, method: RequestMethod
  ) -> RequestTarget? {
    guard !range.isEmpty else { return nil }
    if bytes[range.lowerBound] == ASCII.slash {
      return pathAndQuery(bytes, range, whole: range, authority: nil)
    }
    if range.count == 1, bytes[range.lowerBound] == UInt8(ascii: "*") {
      return method == .options
        ? RequestTarget(whole: range, path: range, query: nil, authority: nil) : nil
    }
    return absolute(bytes, range)
  }

  private static func absolute(
    _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>
  ) -> RequestTarget? {
    func starts(_ prefix: StaticString) -> Bool {
      let count = prefix.utf8CodeUnitCount
      guard range.count >= count else { return false }
      return ByteScan.equals(bytes, range.lowerBound..<range.lowerBound + count, prefix)
    }
    let schemeCount = starts("http://") ? 7 : starts("https://") ? 8 : 0
    guard schemeCount > 0 else { return nil }
    let start = range.lowerBound + schemeCount
    var end = start
    while end < range.upperBound, bytes[end] != ASCII.slash, bytes[end] != ASCII.question {
      end += 1
    }
    guard HostSyntax.isValid(bytes, start..<end) else { return nil }
    if end < range.upperBound, bytes[end] == ASCII.slash {
      return pathAndQuery(bytes, end..<range.upperBound, whole: range, authority: start..<end)
    }
    // An empty path means "/" (RFC 9110 4.2.3): the slash before the authority serves as the path.
    let root = start - 1..<start
    if end == range.upperBound {
      return RequestTarget(whole: range, path: root, query: nil, authority: start..<end)
    }
    let query = end + 1..<range.upperBound
    guard ByteScan.isQuery(bytes, in: query) else { return nil }
    return RequestTarget(whole: range, path: root, query: query, authority: start..<end)
  }

  private static func pathAndQuery(
    _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, whole: Range<Int>,
    authority: Range<Int>?
  ) -> RequestTarget? {
    var end = ByteScan.endOfPlainPath(bytes, in: range)
    var hasTriplets = false
    while end < range.upperBound, ASCIISet.path.contains(bytes[end]) {
      if bytes[end] == ASCII.percent { hasTriplets = true }
      end &+= 1
    }
    let path = range.lowerBound..<end
    guard !hasTriplets || PercentTriplets.areComplete(bytes, path) else { return nil }
    if end == range.upperBound {
      return RequestTarget(whole: whole, path: path, query: nil, authority: authority)
    }
    let query = end + 1..<range.upperBound
    guard bytes[end] == ASCII.question, ByteScan.isQuery(bytes, in: query) else {
      return nil
    }
    return RequestTarget(whole: whole, path: path, query: query, authority: authority)
  }
}

/// Validation of `uri-host [ ":" port ]` (RFC 3986 3.2, RFC 9110 7.2).
enum HostSyntax {
  /// Returns whether a range is a non-empty host with an optional port. User information is refused.
  static func isValid(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
    guard !range.isEmpty else { return false }
    let hostEnd =
      bytes[range.lowerBound] == UInt8(ascii: "[")
      ? endOfLiteral(bytes, range) : endOfName(bytes, range)
    guard let hostEnd, hostEnd > range.lowerBound else { return false }
    if hostEnd == range.upperBound { return true }
    guard bytes[hostEnd] == ASCII.colon else { return false }
    for index in hostEnd + 1..<range.upperBound where !bytes[index].isDigit { return false }
    return true
  }

  private static func endOfLiteral(
    _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>
  ) -> Int? {
    var index = range.lowerBound + 1
    while index < range.upperBound, ASCIISet.addressLiteral.contains(bytes[index]) { index += 1 }
    let isClosed = index < range.upperBound && bytes[index] == UInt8(ascii: "]")
    return isClosed && index > range.lowerBound + 2 ? index + 1 : nil
  }

  private static func endOfName(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int? {
    var index = range.lowerBound
    var hasTriplets = false
    while index < range.upperBound, ASCIISet.registeredName.contains(bytes[index]) {
      if bytes[index] == ASCII.percent { hasTriplets = true }
      index &+= 1
    }
    return !hasTriplets || PercentTriplets.areComplete(bytes, range.lowerBound..<index)
      ? index : nil
  }
}

/// Validation of percent-encoding.
enum PercentTriplets {
  /// Returns whether two hexadecimal digits follow every `%` of a range (RFC 3986 2.1).
  static func areComplete(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Bool {
    var index = range.lowerBound
    while index < range.upperBound {
      guard bytes[index] == ASCII.percent else {
        index &+= 1
        continue
      }
      guard index + 2 < range.upperBound, bytes[index + 1].hexValue != nil,
        bytes[index + 2].hexValue != nil
      else { return false }
      index += 3
    }
    return true
  }
}
