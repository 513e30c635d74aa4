import HTTPClient
import Testing
import Transport

@testable import Composition

struct SettingValueTests {
  @Test(
    "Durations are read and printed",
    arguments: [
      ("0s", Duration.zero), ("250ms", .milliseconds(250)), ("10s", .seconds(10)),
      ("5m", .seconds(300)), ("2h", .seconds(7_200)), ("1d", .seconds(86_400)),
    ])
  func readsDurations(text: String, duration: Duration) throws {
    #expect(try DurationText.parse(text) == duration)
    #expect(DurationText.print(duration) == text)
  }

  @Test(
    "Malformed durations are refused",
    arguments: [
      "", "s", "10", "1.5s", "-1s", "+1s", "10 s", "10S", "1h30m", "10sec", "0x1s", "٣s",
      "99999999999999999999s", "9999999999999d",
    ])
  func refusesDurations(text: String) {
    #expect(throws: ValueRefusal.self) { try DurationText.parse(text) }
  }

  @Test(
    "Sizes are read and printed",
    arguments: [
      ("0B", 0), ("1500B", 1_500), ("64KiB", 65_536), ("10MB", 10_000_000), ("3GiB", 3 << 30),
      ("2TB", 2_000_000_000_000), ("1TiB", 1 << 40),
    ])
  func readsSizes(text: String, bytes: Int) throws {
    #expect(try ByteSize.parse(text) == bytes)
    #expect(try ByteSize.parse("\(bytes)") == bytes)
    #expect(try ByteSize.parse(ByteSize.print(bytes)) == bytes)
  }

  @Test(
    "Malformed sizes are refused",
    arguments: ["", "B", "1.5MiB", "-1", "1kb", "1 KB", "1K", "9999999TiB"])
  func refusesSizes(text: String) {
    #expect(throws: ValueRefusal.self) { try ByteSize.parse(text) }
  }

  @Test(
    "Listen addresses are read and printed",
    arguments: [
      ("127.0.0.1:8080", ListenAddress.tcp(host: "127.0.0.1", port: 8080)),
      ("[::1]:8080", .tcp(host: "::1", port: 8080)), (":0", .tcp(host: nil, port: 0)),
      ("localhost:80", .tcp(host: "localhost", port: 80)), ("unix:/a b", .unix(path: "/a b")),
    ])
  func readsListenAddresses(text: String, address: ListenAddress) throws {
    #expect(try ListenAddress(parsing: text, in: ".") == address)
    #expect(address.description == text)
  }

  @Test(
    "Malformed listen addresses are refused",
    arguments: [
      "", "8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "::1:8080",
      "[::1]", "[::g]:80", "[127.0.0.1]:80", "a b:80", "http://a:80", "unix:",
      "unix:/" + String(repeating: "a", count: 107),
    ])
  func refusesListenAddresses(text: String) {
    #expect(throws: ValueRefusal.self) { try ListenAddress(parsing: text, in: ".") }
  }

  @Test(
    "A block contains exactly the addresses with its prefix",
    arguments: [
      ("10.0.0.0/8", ["10.1.2.3", "10.255.255.255", "::ffff:10.0.0.1"], ["11.0.0.0", "::"]),
      ("192.168.1.77", ["192.168.1.77"], ["192.168.1.78"]),
      ("0.0.0.0/0", ["1.2.3.4", "0.0.0.0"], ["::1"]), ("::/0", ["::1", "ffff::"], ["1.2.3.4"]),
      ("fe80::1", ["fe80::1"], ["fe80::2"]),
      ("172.16.0.0/12", ["172.31.255.255"], ["172.32.0.0"]),
      ("fd00::/9", ["fd7f::1"], ["fd80::", "10.0.0.0"]),
      ("::ffff:10.0.0.0/8", ["::ffff:a01:203", "10.9.9.9"], ["::ffff:11.0.0.0"]),
    ])
  func blockContainsAddresses(text: String, inside: [String], outside: [String]) throws {
    let block = try AddressBlock(parsing: text)
    for address in inside { #expect(block.contains(try peer(address)), "\(address)") }
    for address in outside { #expect(!block.contains(try peer(address)), "\(address)") }
    #expect(!block.contains(.unix(path: "")))
  }

  private func peer(_ text: String) throws -> SocketAddress {
    try #require(SocketAddress(numericHost: text, port: 1234))
  }

  @Test(
    "Malformed blocks of addresses are refused",
    arguments: [
      "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8", "10.0.0.0.0", "010.0.0.0",
      "10.0.0.256", "::/129", ":::", "1::2::3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::",
      "fe80::1%eth0", "1.2.3.4::", "localhost", "fd00::1/8", "1:2:3:4:5:6:7::8",
    ])
  func refusesBlocks(text: String) {
    #expect(throws: ValueRefusal.self) { try AddressBlock(parsing: text) }
  }

  @Test(
    "URLs are read and kept as written",
    arguments: [
      ("https://Api.Example.com", "https://api.example.com:443", "/"),
      ("HTTP://[::1]:4000/graphql?a=b", "http://[::1]:4000", "/graphql?a=b"),
      ("wss://db_1?x", "https://db_1:443", "/?x"), ("ws://a/b", "http://a:80", "/b"),
      ("http+unix://%2Frun%2Fapi.sock/graphql", "http://unix:/run/api.sock", "/graphql"),
    ])
  func readsURLs(text: String, origin: String, target: String) throws {
    let schemes = ["http", "https", "ws", "wss", "http+unix"]
    let url = try ServiceURL(parsing: text, schemes: schemes)
    #expect(url.http.origin.description == origin && url.http.target == target)
    #expect(url.text == text)
  }

  @Test(
    "Malformed URLs are refused",
    arguments: [
      "", "example.com", "ftp://example.com", "http:/example.com", "http://", "http:///x",
      "http://a:0", "http://a:x", "http://a:65536", "http://a b", "http://a/ä", "http://a/#b",
      "http://u:p@a", "http://[::g]", "ws://a", "http+unix://%2Fa",
    ])
  func refusesURLs(text: String) {
    #expect(throws: ValueRefusal.self) {
      try ServiceURL(parsing: text, schemes: ["http", "https"])
    }
  }

  @Test(
    "Origins are normalised to the form that browsers send",
    arguments: [
      ("*", "*"), ("https://App.Example.com:443", "https://app.example.com"),
      ("http://localhost:3000", "http://localhost:3000"),
      ("capacitor://localhost", "capacitor://localhost"), ("http://[::1]:80", "http://[::1]"),
    ])
  func normalisesOrigins(text: String, origin: String) throws {
    #expect(try WebOrigin(parsing: text).description == origin)
  }

  @Test(
    "Malformed origins are refused",
    arguments: ["", "null", "app.example.com", "https://a/", "https://a?b", "https://u@a"])
  func refusesOrigins(text: String) {
    #expect(throws: ValueRefusal.self) { try WebOrigin(parsing: text) }
  }
}
