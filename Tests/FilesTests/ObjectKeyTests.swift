import Model
import Testing

struct ObjectKeyTests {
  @Test(
    "Any Unicode text without control characters is a valid key",
    arguments: [
      "a", "a/b/c", "dir/", "/a", "a//b", "...", "..a", "a..", "~", "%2e%2e/x", "\\..\\x",
      "\u{FEFF}", "日本語/ключ", "👩‍👩‍👧", "\u{202E}gpj.exe", String(repeating: "x", count: 1024),
      String(repeating: "é", count: 512), " ", "a b", "a+b", "a?b#c",
    ])
  func acceptsUnicodeText(text: String) throws {
    #expect(try #require(ObjectKey(text)).text.utf8.elementsEqual(text.utf8))
  }

  @Test(
    "Empty, overlong and ambiguous keys are refused",
    arguments: [
      "", ".", "..", "a/./b", "a/..", "../a", "a/../b", "a\0b", "a\nb", "a\r", "\u{7F}", "a\u{85}b",
      String(repeating: "x", count: 1025), String(repeating: "é", count: 513),
    ])
  func refusesInvalidKeys(text: String) {
    #expect(ObjectKey(text) == nil)
  }

  @Test("Composed and decomposed forms are different keys")
  func distinguishesNormalForms() throws {
    let composed = try #require(ObjectKey("caf\u{E9}"))
    let decomposed = try #require(ObjectKey("cafe\u{301}"))
    #expect(composed.text == decomposed.text)
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
  }

  @Test("Keys are ordered by their bytes")
  func ordersByBytes() throws {
    // U+FF5E is before U+1F600 in UTF-8 and after it in UTF-16.
    let low = try #require(ObjectKey("\u{FF5E}"))
    let high = try #require(ObjectKey("\u{1F600}"))
    #expect(low < high)
  }

  @Test(
    "Valid bucket names are accepted",
    arguments: ["abc", "a-b.c", "0a9", String(repeating: "a", count: 63), "1.2.3.4a"])
  func acceptsBucketNames(text: String) {
    #expect(BucketName(text) != nil)
  }

  @Test(
    "Invalid bucket names are refused",
    arguments: [
      "", "ab", "Abc", "a_b", "-ab", "ab-", ".ab", "a..b", "1.2.3.4", "xn--abc", "abc-s3alias",
      "a/b", "a b", "é12", String(repeating: "a", count: 64),
    ])
  func refusesBucketNames(text: String) {
    #expect(BucketName(text) == nil)
  }
}
