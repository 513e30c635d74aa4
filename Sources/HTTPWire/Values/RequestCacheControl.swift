/// The directives of a request's `Cache-Control` (RFC 9111 5.2.1).
package struct RequestCacheControl: Sendable, Equatable {
  /// The staleness that the client accepts.
  package enum Staleness: Sendable, Equatable {
    case seconds(Int)
    case any
  }

  package var noCache = false
  package var noStore = false
  package var onlyIfCached = false
  /// Seconds.
  package var maxAge: Int?
  /// Seconds.
  package var minFresh: Int?
  package var maxStale: Staleness?

  package init() {}

  /// Parses a value; unknown and malformed directives are ignored.
  package init(_ text: String) {
    self.init(ArraySlice(Array(text.utf8)))
  }

  /// Parses a value given as bytes.
  package init(_ bytes: ArraySlice<UInt8>) {
    for element in bytes.split(separator: ASCII.comma) {
      let sides = element.split(
        separator: ASCII.equals, maxSplits: 1, omittingEmptySubsequences: false)
      take(sides[0].trimmingBlanks, sides.count > 1 ? Self.seconds(sides[1]) : nil)
    }
  }

  private mutating func take(_ name: ArraySlice<UInt8>, _ seconds: Int?) {
    if name.equalsIgnoringCase("no-cache") { noCache = true }
    if name.equalsIgnoringCase("no-store") { noStore = true }
    if name.equalsIgnoringCase("only-if-cached") { onlyIfCached = true }
    if name.equalsIgnoringCase("max-age") { maxAge = seconds ?? maxAge }
    if name.equalsIgnoringCase("min-fresh") { minFresh = seconds ?? minFresh }
    if name.equalsIgnoringCase("max-stale") { maxStale = seconds.map(Staleness.seconds) ?? .any }
  }

  /// Parses seconds, quoted or not. More than 2^31 counts as 2^31 (RFC 9111 1.2.2).
  private static func seconds(_ text: ArraySlice<UInt8>) -> Int? {
    var text = text.trimmingBlanks
    if text.count > 1, text.first == ASCII.quote, text.last == ASCII.quote {
      text = text.dropFirst().dropLast()
    }
    guard !text.isEmpty, text.allSatisfy(\.isDigit) else { return nil }
    return min(Int(text.text) ?? .max, 1 << 31)
  }
}
