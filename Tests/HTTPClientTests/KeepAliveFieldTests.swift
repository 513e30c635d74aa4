import Testing

@testable import HTTPClient

struct KeepAliveFieldTests {
  @Test(arguments: [
    ("timeout=5", 5), ("timeout=5, max=100", 5), ("max=100,Timeout = 7", 7), ("timeout=x", nil),
    ("max=3", nil), ("", nil), ("timeout=-1", nil),
  ])
  func readsTheTimeout(value: String, seconds: Int?) {
    #expect(KeepAliveField.timeout(in: value) == seconds)
  }
}
