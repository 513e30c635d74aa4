import Testing

@testable import Storage

struct BlobNameTests {
  @Test(
    "A text of the index that is no name is that of no other file",
    arguments: [
      "../larder.key", "../../../../etc/passwd", "", "a", String(repeating: "g", count: 32),
      String(repeating: "A", count: 32), String(repeating: "a", count: 31) + "/",
    ])
  func refusesPaths(text: String) {
    #expect(BlobName(stored: text).text == String(repeating: "0", count: 32))
  }

  @Test("A name of the index is taken as it is")
  func takesNames() {
    let text = "0123456789abcdef0123456789abcdef"
    #expect(BlobName(stored: text).text == text)
    #expect(BlobName(text) == BlobName(stored: text))
  }
}
