/// A request target split into its parts, as offsets into the head (RFC 9112 3.2).
struct RequestTarget: Sendable {
  var whole: Range<Int>
  /// Never empty: `/…`, or `*` for the asterisk form.
  var path: Range<Int>
  /// What follows the first `?`.
  var query: Range<Int>?
  /// The authority of the absolute form; it wins over `Host`.
  var authority: Range<Int>?

  /// Splits and checks a target. The forms for CONNECT are left out with the method.
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
    // An empty path means "/" (RFC 9110 4.2.3): the slash before the authority stands for it.
    let root = start - 1..<start
    if end == range.upperBound {
      return RequestTarget(whole: range, path: root, query: nil, authority: start..<end)
    }
    let query = end + 1..<range.upperBound
    guard ByteScan.all(in: query, of: bytes, are: .query) else { return nil }
    return RequestTarget(whole: range, path: root, query: query, authority: start..<end)
  }

  private static func pathAndQuery(
    _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, whole: Range<Int>,
    authority: Range<Int>?
  ) -> RequestTarget? {
    var end = range.lowerBound
    var hasTriplets = false
    while end < range.upperBound, ASCIISet.path.contains(bytes[end]) {
      if bytes[end] == ASCII.percent { hasTriplets = true }
      end &+= 1
    }
    let path = range.lowerBound..<end
    guard !hasTriplets || PercentTriplets.areWhole(bytes, path) else { return nil }
    if end == range.upperBound {
      return RequestTarget(whole: whole, path: path, query: nil, authority: authority)
    }
    let query = end + 1..<range.upperBound
    guard bytes[end] == ASCII.question, ByteScan.all(in: query, of: bytes, are: .query) else {
      return nil
    }
    return RequestTarget(whole: whole, path: path, query: query, authority: authority)
  }
}
