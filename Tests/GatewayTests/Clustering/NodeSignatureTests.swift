import Model
import Testing

@testable import Gateway

struct NodeSignatureTests {
  private static let secret = Array(repeating: UInt8(7), count: 32)
  private static let signature = NodeSignature(secret: secret)
  private static let now = Timestamp(milliseconds: 1_700_000_000_000)

  private static func statement(
    at time: Timestamp = now,
    content: NodeSignature.Content = .digest(NodeSignature.digest(of: [1]))
  ) -> NodeSignature.Statement {
    NodeSignature.Statement(
      node: "n_1", time: time, nonce: "abc",
      client: NodeSignature.Client(address: "192.0.2.1", isSecure: true, host: "api.example.com"),
      surface: "main", content: content)
  }

  private static let request = NodeSignature.Request(
    method: "POST", target: "/v1/mutations?a=1", host: "api.example.com", id: "r-1")

  private static func fault(
    of field: String, _ request: NodeSignature.Request = request,
    by signature: NodeSignature = signature, at time: Timestamp = now
  ) -> NodeSignature.Fault? {
    do throws(NodeSignature.Fault) {
      _ = try signature.statement(in: field, of: request, at: time)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "A signed statement is read back",
    arguments: [
      .none, .streamed, .digest(NodeSignature.digest(of: [])),
    ] as [NodeSignature.Content])
  func roundTrip(content: NodeSignature.Content) throws {
    var statement = Self.statement(content: content)
    for client in [
      NodeSignature.Client(address: nil, isSecure: false),
      NodeSignature.Client(address: "2001:db8::1", isSecure: true, host: "[::1]:8080"),
    ] {
      statement.client = client
      let field = Self.signature.field(statement, for: Self.request)
      #expect(!field.contains("\n"))
      #expect(
        try Self.signature.statement(in: field, of: Self.request, at: Self.now) == statement)
    }
  }

  @Test("A request that was altered outside the signature is refused")
  func requestIsCovered() {
    let field = Self.signature.field(Self.statement(), for: Self.request)
    var others: [NodeSignature.Request] = []
    for change in [
      { $0.method = "DELETE" }, { $0.target = "/v1/mutations?a=2" }, { $0.host = "evil.example" },
      { $0.id = "r-2" },
      // The parts cannot be shifted into each other.
      {
        $0.method = "POST\n/v1/mutations?a=1"
        $0.target = "api.example.com"
        $0.host = "r-1"
        $0.id = ""
      },
    ] as [(inout NodeSignature.Request) -> Void] {
      var other = Self.request
      change(&other)
      others.append(other)
    }
    #expect(Self.fault(of: field) == nil)
    for other in others { #expect(Self.fault(of: field, other) == .altered, "\(other)") }
  }

  @Test("Every altered word of the signature is refused, and one of another form")
  func wordsAreCovered() {
    let field = Self.signature.field(Self.statement(), for: Self.request)
    let words = field.split(separator: " ").map(String.init)
    #expect(words.count == 10)
    let digest = NodeSignature.digest(of: [2])
    let others = [
      "2", "n_2", "1700000000001", "abd", "192.0.2.2", "http", "-", "s3", digest, "AAAA",
    ]
    for (index, other) in others.enumerated() {
      var altered = words
      altered[index] = other
      let fault = Self.fault(of: altered.joined(separator: " "))
      #expect(fault == (index == 0 ? .malformed : .altered), "word \(index)")
    }
    for malformed in [
      "", "1", field + " x", field.replacing(" ", with: "  "), String(repeating: "a", count: 2_000),
      words.dropLast(2).joined(separator: " ") + " streamed1 " + words[9],
      words.dropLast(2).joined(separator: " ") + " \(digest.uppercased()) " + words[9],
    ] {
      #expect(Self.fault(of: malformed) == .malformed, "\(malformed)")
    }
  }

  @Test(
    "A signature counts for half a minute, in both directions",
    arguments: [
      (0, nil), (30_000, nil), (-30_000, nil), (30_001, .expired), (-30_001, .expired),
      (86_400_000, .expired),
    ] as [(Int64, NodeSignature.Fault?)])
  func windowIsBounded(milliseconds: Int64, fault: NodeSignature.Fault?) {
    let time = Timestamp(milliseconds: Self.now.milliseconds + milliseconds)
    let field = Self.signature.field(Self.statement(at: time), for: Self.request)
    #expect(Self.fault(of: field) == fault)
  }

  @Test("A signature with another secret is refused, also if its time is over")
  func secretsDiffer() {
    let other = NodeSignature(secret: Array(repeating: UInt8(8), count: 32))
    for time in [Self.now, Timestamp(milliseconds: 0)] {
      let field = other.field(Self.statement(at: time), for: Self.request)
      #expect(Self.fault(of: field) == .altered)
    }
  }

  @Test("A nonce is accepted once, and remembered for longer than its signature counts")
  func noncesAreSeenOnce() {
    let nonces = SeenNonces()
    #expect(nonces.note("a", at: Self.now))
    #expect(!nonces.note("a", at: Self.now))
    for seconds in [1, 30, 59, 61, 62, 90, 119] {
      let later = Self.now.advanced(by: .seconds(seconds))
      #expect(nonces.note("at \(seconds)", at: later))
      if seconds <= 60 { #expect(!nonces.note("a", at: later), "\(seconds)") }
    }
    #expect(!nonces.note("at 62", at: Self.now.advanced(by: .seconds(120))))
  }
}
