import HTTPWire
import S3Wire
import Testing

struct S3EncodingTests {
  @Test(
    "A path is percent-encoded once and not normalised",
    arguments: [
      ("/a/b", "/a/b"), ("//", "//"), ("/./a/../b", "/./a/../b"), ("/a b+c", "/a%20b%2Bc"),
      ("/a%2Fb", "/a%252Fb"), ("/é~_-.", "/%C3%A9~_-."), ("/*'()!$", "/%2A%27%28%29%21%24"),
    ])
  func encodesPathsOnce(_ raw: String, _ encoded: String) {
    #expect(S3Encoding.path(raw) == encoded)
    #expect(S3Encoding.canonicalPath(encoded) == encoded)
  }

  @Test(
    "A received path has one canonical form",
    arguments: [("/a+b%2b", "/a%2Bb%2B"), ("/%41%2f", "/A/"), ("/é", "/%C3%A9")])
  func canonicalisesPaths(_ sent: String, _ canonical: String) {
    #expect(S3Encoding.canonicalPath(sent) == canonical)
  }

  @Test(
    "A path that is not valid percent-encoded UTF-8 has no canonical form",
    arguments: ["/%", "/%2", "/%GG", "/%FF"])
  func refusesMalformedPaths(_ path: String) {
    #expect(S3Encoding.canonicalPath(path) == nil)
  }

  @Test("A canonical query is sorted by encoded bytes")
  func sortsQueriesByEncodedBytes() throws {
    let query = try QueryString("b=2&a=/+&a=%20&uploads&B=1&%C3%A9=x&a-=1")
    #expect(
      S3Encoding.canonicalQuery(query.parameters)
        == "%C3%A9=x&B=1&a=%20&a=%2F%20&a-=1&b=2&uploads=")
  }

  @Test(
    "A signature's time survives a round trip",
    arguments: ["20130524T000000Z", "20240229T235959Z"])
  func timesRoundTrip(_ text: String) throws {
    let time = try #require(SignatureTime(text))
    #expect(time.text == text)
    #expect(SignatureTime(time.date) == time)
    #expect(time.day == text.prefix(8))
  }

  @Test(
    "A malformed or invalid time is refused",
    arguments: [
      "", "20130524", "20130524T000000", "20130230T000000Z", "20130524T240000Z",
      "20130524t000000Z", "2013-524T000000Z",
    ])
  func refusesInvalidTimes(_ text: String) {
    #expect(SignatureTime(text) == nil)
  }

  @Test(
    "A payload hash survives a round trip",
    arguments: [
      PayloadHash.empty, .unsigned, .signedChunks, .signedChunksAndTrailer,
      .unsignedChunksAndTrailer,
    ])
  func payloadHashesRoundTrip(_ payload: PayloadHash) {
    #expect(PayloadHash(payload.text) == payload)
  }

  @Test("An unknown payload hash is refused")
  func refusesUnknownPayloadHashes() {
    #expect(PayloadHash("") == nil)
    #expect(PayloadHash(String(repeating: "A", count: 64)) == nil)
  }
}
