import Model
import Testing

@testable import Endpoints

struct FileFieldTests {
  @Test(
    "Base64 is encoded and decoded",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("\u{3F}\u{3E}\u{7F}", "Pz5/"),
    ])
  func codesBase64(text: String, encoded: String) {
    #expect(Base64.encode(Array(text.utf8)) == encoded)
    #expect(Base64.decode(encoded) == Array(text.utf8))
  }

  @Test(
    "Malformed or non-canonical base64 is refused",
    arguments: ["Zg", "Zg=", "Zh==", "Zm9v=", "Z===", "Zm-v", "Zm9v\n", "====", "Zg==Zg=="])
  func refusesMalformedBase64(text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test(
    "Only types without script or style are displayed by browsers",
    arguments: [
      ("image/png", nil, nil), ("image/png", "inline", "inline"),
      ("Image/PNG; a=b", nil, nil), ("video/mp4", nil, nil), ("text/plain", nil, nil),
      ("text/html", nil, "attachment; filename*=UTF-8''n%20%C3%A9.x"),
      ("text/html", "inline", "attachment; filename*=UTF-8''n%20%C3%A9.x"),
      ("image/svg+xml", "ATTACHMENT; filename=a", "ATTACHMENT; filename=a"),
      ("application/pdf", nil, "attachment; filename*=UTF-8''n%20%C3%A9.x"),
      ("", nil, "attachment; filename*=UTF-8''n%20%C3%A9.x"),
    ] as [(String, String?, String?)])
  func displaysOnlySafeTypes(type: String, own: String?, expected: String?) throws {
    let metadata = ObjectMetadata(
      key: try #require(ObjectKey("dir/n é.x")), size: 0, modified: Timestamp(milliseconds: 0),
      tag: "t", attributes: ObjectAttributes(contentType: type, contentDisposition: own))
    #expect(ContentDisposition.value(for: metadata) == expected)
  }

  @Test(
    "A continuation token survives a round trip through its text",
    arguments: [ListToken.Place.key("é/"), .prefix("a/"), .foreign("x")])
  func tokensRoundTrip(place: ListToken.Place) {
    let token = ListToken(place)
    #expect(ListTokenText.decode(ListTokenText.encode(token)) == token)
  }

  @Test(
    "A malformed continuation token is refused",
    arguments: ["", "!", "eA", "a"])
  func refusesMalformedTokens(text: String) {
    #expect(ListTokenText.decode(text) == nil)
  }
}
