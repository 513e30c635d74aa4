import Testing
import Transport

@testable import HTTPClient

struct HTTPURLTests {
  @Test(
    "URLs are parsed into origin and target",
    arguments: [
      ("http://example.com", "http://example.com:80", "/", "example.com"),
      (
        "https://Example.COM/v1/graphql?a=b#c", "https://example.com:443", "/v1/graphql?a=b",
        "example.com"
      ),
      ("http://example.com:8080?x", "http://example.com:8080", "/?x", "example.com:8080"),
      ("http://example.com:/", "http://example.com:80", "/", "example.com"),
      ("https://[::1]:8443/a", "https://[::1]:8443", "/a", "[::1]:8443"),
      ("http://[::1]/a", "http://[::1]:80", "/a", "[::1]"),
      ("http://127.0.0.1:443/", "http://127.0.0.1:443", "/", "127.0.0.1:443"),
      ("http+unix://%2Frun%2Fa.sock/x", "http://unix:/run/a.sock", "/x", "localhost"),
    ])
  func parsesURLs(
    text: String, origin: String, target: String, authority: String
  ) throws {
    let url = try HTTPURL(text)
    #expect("\(url.origin)" == origin)
    #expect(url.target == target)
    #expect(url.origin.authority == authority)
  }

  @Test(
    "Unusable URLs are refused",
    arguments: [
      ("ftp://example.com/", HTTPURL.Fault.unsupportedScheme), ("example.com", .unsupportedScheme),
      ("http://user:pw@example.com/", .hasCredentials), ("http:///path", .malformedHost),
      ("http://a b/", .malformedHost), ("http://ex%41mple/", .malformedHost),
      ("http://[::1/", .malformedHost), ("http://[1.2.3.4]/", .malformedHost),
      ("http://a:0/", .malformedPort), ("http://a:65536/", .malformedPort),
      ("http://a:+80/", .malformedPort), ("http://a/b c", .malformedTarget),
      ("http://a/b\r\nc", .malformedTarget), ("http+unix://run/x", .malformedHost),
    ])
  func refusesUnusableURLs(text: String, fault: HTTPURL.Fault) {
    #expect(throws: fault) { try HTTPURL(text) }
  }
}

struct KeepAliveFieldTests {
  @Test(
    "The timeout of Keep-Alive is parsed",
    arguments: [
      ("timeout=5", 5), ("timeout=5, max=100", 5), ("max=100,Timeout = 7", 7), ("timeout=x", nil),
      ("max=3", nil), ("", nil), ("timeout=-1", nil),
    ])
  func parsesTheTimeout(value: String, seconds: Int?) {
    #expect(KeepAliveField.timeout(in: value) == seconds)
  }
}
