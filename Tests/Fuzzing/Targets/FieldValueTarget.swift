import HTTPWire

/// The values of single fields, and queries: parsing terminates for any bytes, and a parsed value is
/// unchanged after it was written and parsed again.
enum FieldValueTarget {
  private static let now = HTTPDate(secondsSince1970: 1_790_000_000)

  static func run(_ input: UnsafeRawBufferPointer) {
    let bytes = Array(input)[...]
    date(bytes)
    tags(bytes)
    ranges(bytes)
    query(bytes)
    percentCoding(bytes)
    lists(bytes)
  }

  private static func date(_ bytes: ArraySlice<UInt8>) {
    guard let date = HTTPDate(bytes, now: now) else { return }
    Finding.require(date.bytes.count == 29, "a date of another length: \(date.text)")
    Finding.require(HTTPDate(date.text, now: now) == date, "a date changes: \(date.text)")
  }

  private static func tags(_ bytes: ArraySlice<UInt8>) {
    let text = String(decoding: bytes, as: UTF8.self)
    if let tag = EntityTag(parsing: text) {
      Finding.require(EntityTag(parsing: tag.text) == tag, "a tag changes: \(tag.text)")
      Finding.require(tag.coded(.gzip).uncoded.opaque == tag.opaque, "a coded tag stays coded")
      Finding.require(EntityTagList(tag.text) == .tags([tag]), "a tag is not a list of one")
    }
    guard case .tags(let tags) = EntityTagList(bytes) else { return }
    let written = tags.map(\.text).joined(separator: ", ")
    Finding.require(EntityTagList(written) == .tags(tags), "a list of tags changes: \(written)")
    for tag in tags where !tag.isWeak {
      Finding.require(EntityTagList.tags(tags).stronglyContains(tag), "a tag is not in its list")
    }
  }

  private static func ranges(_ bytes: ArraySlice<UInt8>) {
    guard let set = ByteRangeSet(bytes) else { return }
    Finding.require(set.specs.count <= ByteRangeSet.specsMax, "too many ranges")
    for length in [0, 1, 2, 500, Int.max] {
      let parts: [Range<Int>]
      switch set.resolve(length: length) {
      case .part(let range): parts = [range]
      case .parts(let ranges): parts = ranges
      case .ignore, .unsatisfiable: continue
      }
      for part in parts {
        let lies = part.lowerBound >= 0 && part.upperBound <= length
        Finding.require(!part.isEmpty && lies, "\(part) of \(length)")
      }
    }
  }

  private static func query(_ bytes: ArraySlice<UInt8>) {
    guard let query = try? QueryString(bytes) else { return }
    Finding.require(query.parameters.count <= QueryString.parametersMax, "too many parameters")
    // An empty parameter is written as `=`, which is one, too.
    let again = try? QueryString(query.text)
    Finding.require(again == query, "a query changes: \(query.text)")
  }

  private static func percentCoding(_ bytes: ArraySlice<UInt8>) {
    guard let text = PercentCoding.decode(bytes) else { return }
    Finding.require(PercentCoding.decode(PercentCoding.encode(text)) == text, "a text changes")
  }

  private static func lists(_ bytes: ArraySlice<UInt8>) {
    let text = String(decoding: bytes, as: UTF8.self)
    let tokens = TokenList(text)
    Finding.require(tokens.tokens.allSatisfy(tokens.contains), "a token is not in its list")
    _ = AcceptEncoding(bytes).preferred
    let control = RequestCacheControl(bytes)
    for seconds in [control.maxAge, control.minFresh] {
      Finding.require(seconds.map { (0...1 << 31).contains($0) } ?? true, "seconds out of bounds")
    }
    let conditions = Preconditions(
      ifMatch: text, ifUnmodifiedSince: text, ifNoneMatch: text, ifModifiedSince: text, now: now)
    _ = conditions.judge(isRead: true, tag: EntityTag("x"), modified: now)
    _ = RangeCondition(text, now: now)?.holds(tag: EntityTag("x"), modified: now)
  }
}
