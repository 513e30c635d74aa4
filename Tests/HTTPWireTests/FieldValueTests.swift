import HTTPWire
import Testing

struct FieldValueTests {
  @Test(
    "Byte ranges resolve against a length",
    arguments: [
      ("bytes=0-4", ByteRangeSet.Outcome.part(0..<5)), ("bytes=5-", .part(5..<10)),
      ("bytes=-3", .part(7..<10)), ("bytes=-30", .part(0..<10)), ("bytes=8-99", .part(8..<10)),
      ("bytes=10-", .unsatisfiable), ("bytes=-0", .unsatisfiable), ("BYTES = 0-1", .ignore),
      ("bytes=0-1,3-4", .parts([0..<2, 3..<5])),
      ("bytes=3-4,0-1,-1", .parts([3..<5, 0..<2, 9..<10])),
      ("bytes=0-1,10-", .part(0..<2)), ("bytes=10-,20-", .unsatisfiable),
      ("bytes=0-2,1-3,2-4", .parts([0..<3, 1..<4, 2..<5])), ("bytes=0-1,0-1,0-1,0-1", .ignore),
      ("bytes=8-8,6-6,4-4,2-2", .ignore), ("bytes=0-,-1", .ignore), ("pages=1-2", .ignore),
      ("bytes=4-2", .ignore),
      ("bytes=a-b", .ignore), ("bytes=", .ignore), ("bytes=-", .ignore),
      ("bytes=0-99999999999999999999999", .part(0..<10)),
    ])
  func resolvesRanges(text: String, expected: ByteRangeSet.Outcome) {
    #expect((ByteRangeSet(text)?.resolve(length: 10) ?? .ignore) == expected)
  }

  @Test("Ranges whose total length overflows are ignored")
  func ignoresRangesWhoseSumOverflows() {
    #expect(ByteRangeSet("bytes=0-,0-")?.resolve(length: .max) == .ignore)
  }

  @Test("Too many ranges are ignored")
  func ignoresTooManyRanges() {
    let many = (0..<20).map { "\($0)-\($0)" }.joined(separator: ",")
    #expect(ByteRangeSet("bytes=\(many)")?.resolve(length: 1000) == .ignore)
    let endless = String(repeating: "0-0,", count: 65)
    #expect(ByteRangeSet("bytes=\(endless)") == nil)
  }

  @Test(
    "Accept-Encoding selects the content coding",
    arguments: [
      ("gzip", ContentCoding.gzip), ("GZIP, deflate, br", .gzip), ("", .identity),
      ("br", .identity),
      ("*", .gzip), ("gzip;q=0", .identity), ("*;q=0", .identity), ("gzip;q=0.5", .gzip),
      ("gzip;q=0.5, identity", .identity), ("identity;q=0.5, *;q=0.8", .gzip),
      ("gzip;q=banana", .identity), ("gzip; q=0.001", .gzip), ("gzip;q=0.000", .identity),
    ])
  func negotiatesTheCoding(text: String, expected: ContentCoding) {
    #expect(AcceptEncoding(text).preferred == expected)
  }

  @Test("Cache-Control directives of a request are parsed")
  func parsesCacheDirectives() {
    let all = RequestCacheControl(
      "No-Cache, max-age=60 , max-stale, min-fresh=\"5\", only-if-cached")
    #expect(all.noCache)
    #expect(all.maxAge == 60)
    #expect(all.maxStale == .any)
    #expect(all.minFresh == 5)
    #expect(all.onlyIfCached)
    #expect(!all.noStore)
    #expect(RequestCacheControl("max-stale=7").maxStale == .seconds(7))
    #expect(RequestCacheControl("max-age=x").maxAge == nil)
    #expect(RequestCacheControl("max-age=99999999999999999999").maxAge == 1 << 31)
  }

  @Test(
    "Percent-encoded text is decoded, and malformed text refused",
    arguments: [
      ("a%20b", "a b"), ("%C3%BC", "ü"), ("a+b", "a+b"), ("%", nil), ("%4", nil), ("%zz", nil),
      ("%C3", nil), ("%00", "\0"),
    ])
  func decodesPercentTriplets(text: String, expected: String?) {
    #expect(PercentCoding.decode(text) == expected)
  }

  @Test("Percent-encoded text decodes to the original")
  func encodingRoundTrips() {
    let text = "a b/ü?&=+%~-._"
    #expect(PercentCoding.encode(text) == "a%20b%2F%C3%BC%3F%26%3D%2B%25~-._")
    #expect(PercentCoding.decode(PercentCoding.encode(text)) == text)
  }

  @Test("A query string is split into decoded parameters")
  func splitsQueryStrings() throws {
    let query = try QueryString("ids=1&ids=2&&q=a+b%26c&flag&x=y=z")
    #expect(query.values("ids") == ["1", "2"])
    #expect(query["q"] == "a b&c")
    #expect(query["flag"] == "")
    #expect(query["x"] == "y=z")
    #expect(query["none"] == nil)
    #expect(try QueryString(query.text) == query)
  }

  @Test("Malformed query strings and too many parameters are refused")
  func refusesMalformedAndLongQueryStrings() {
    #expect(throws: QueryString.Fault.malformedEncoding) { try QueryString("a=%zz") }
    let endless = String(repeating: "a&", count: 300)
    #expect(throws: QueryString.Fault.tooManyParameters) { try QueryString(endless) }
  }

  @Test("Token lists ignore case")
  func tokenListsIgnoreCase() {
    let list = TokenList("foo,, Keep-Alive ,bar")
    #expect(list.tokens == ["foo", "Keep-Alive", "bar"])
    #expect(list.contains("keep-alive"))
    #expect(!list.contains("keep"))
  }
}
