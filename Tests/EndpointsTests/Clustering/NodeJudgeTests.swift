import Gateway
import HTTPServer
import HTTPTypes
import HTTPWire
import Model
import Testing
import Transport

@testable import Endpoints

struct NodeJudgeTests {
  private static let signature = NodeSignature(secret: Array(repeating: UInt8(7), count: 32))
  private let clock = TestClock()

  private func field(
    method: String = "POST", target: String = "/v1/mutations", nonce: String = "a",
    address: String? = "192.0.2.1", surface: String = "main"
  ) -> String {
    Self.signature.field(
      NodeSignature.Statement(
        node: "n_1", time: clock.clock.now(), nonce: nonce,
        client: NodeSignature.Client(address: address, isSecure: true), surface: surface,
        content: .streamed),
      for: NodeSignature.Request(method: method, target: target, host: "localhost", id: "r-1"))
  }

  private func verdict(
    _ judge: NodeJudge, _ field: String?, method: String = "POST",
    target: String = "/v1/mutations"
  ) throws -> NodeVerdict? {
    let fields = [("Request-Id", "r-1")] + (field.map { [("Larder-Node", $0)] } ?? [])
    return judge.judge(try head(method, target, fields), 0)
  }

  private func reason(_ verdict: NodeVerdict?) -> String? {
    if case .refused(let reason) = verdict { reason } else { nil }
  }

  @Test("A request of a client is not judged, and a signed one has the client that the node states")
  func acceptsSignedRequests() throws {
    let judge = NodeJudge.signed(Self.signature, nonces: SeenNonces(), clock: clock.clock)
    #expect(try verdict(judge, nil) == nil)
    guard case .accepted(let call, let client) = try verdict(judge, field(surface: "s3")) else {
      Issue.record("not accepted")
      return
    }
    #expect(call == NodeCall(node: "n_1", content: .streamed, surface: .s3))
    #expect(client.address == SocketAddress(numericHost: "192.0.2.1", port: 0))
    #expect(client.isSecure == true)
  }

  @Test("Altered, old and invented fields are refused, with the reason that the node reads")
  func refusesOthers() throws {
    let judge = NodeJudge.signed(Self.signature, nonces: SeenNonces(), clock: clock.clock)
    #expect(reason(try verdict(judge, "1 n_1 0 a b c d e f g")) == "signature")
    #expect(reason(try verdict(judge, field(target: "/v1/other"))) == "signature")
    #expect(reason(try verdict(judge, field(), method: "DELETE")) == "signature")
    #expect(reason(try verdict(judge, field(address: "localhost"))) == "signature")
    #expect(reason(try verdict(judge, field(surface: "other"))) == "signature")
    let twice = [("Request-Id", "r-1"), ("Larder-Node", field()), ("Larder-Node", field())]
    #expect(reason(judge.judge(try head("POST", "/v1/mutations", twice), 0)) == "signature")
    let old = field()
    clock.advance(by: .seconds(31))
    #expect(reason(try verdict(judge, old)) == "expired")
  }

  @Test("A request that can write is accepted once, and a read as often as it is sent")
  func refusesReplays() throws {
    let judge = NodeJudge.signed(Self.signature, nonces: SeenNonces(), clock: clock.clock)
    let write = field()
    #expect(reason(try verdict(judge, write)) == nil)
    #expect(reason(try verdict(judge, write)) == "replayed")
    let read = field(method: "GET")
    for _ in 0..<2 { #expect(reason(try verdict(judge, read, method: "GET")) == nil) }
  }

  @Test(
    "A forwarded request has the client's fields, without those of connections, proxies and nodes")
  func dropsFieldsOfConnections() throws {
    let client = ServerRequest(
      head: try head(
        "GET", "/v1/x?a=%20b",
        ("Connection", "close, X-Mine"), ("X-Mine", "1"), ("Keep-Alive", "5"), ("TE", "trailers"),
        ("Upgrade", "h2c"), ("Forwarded", "for=6.6.6.6"), ("X-Forwarded-For", "6.6.6.6"),
        ("Larder-Node", "forged"), ("Larder-Position", "9"), ("Request-Id", "theirs"),
        ("Authorization", "Bearer a"), ("Device-Token", "d"), ("Accept", "text/plain"),
        ("Accept", "application/json"), ("Content-Encoding", "gzip")),
      id: "r-1", remoteAddress: SocketAddress(numericHost: "192.0.2.9", port: 7) ?? .unix(path: ""))
    let forwarded = ForwardedRequest(client, content: .none, isDecoded: true, surface: .main)
    #expect(forwarded.target == "/v1/x?a=%20b")
    #expect(forwarded.host == "localhost")
    #expect(forwarded.client == NodeSignature.Client(address: "192.0.2.9", isSecure: false))
    #expect(
      forwarded.fields.map { "\($0.name.canonicalName): \($0.value)" } == [
        "authorization: Bearer a", "device-token: d", "accept: text/plain",
        "accept: application/json", "accept-encoding: identity",
      ])
    let absolute = ServerRequest(head: try head("GET", "http://other.example:81/v1/y?b"), id: "r-2")
    let second = ForwardedRequest(absolute, content: .none, isDecoded: false, surface: .s3)
    #expect(second.target == "/v1/y?b" && second.host == "other.example:81")
    #expect(second.client.address == nil && second.surface == "s3")
    let presented = ForwardedRequest(presenting: client)
    #expect(presented.target == "/v1/devices/me")
    #expect(
      presented.fields.map(\.name.canonicalName)
        == ["authorization", "device-token", "accept-encoding"])
  }
}
