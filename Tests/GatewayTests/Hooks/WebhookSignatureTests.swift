import Cryptography
import Foundation
import LosslessJSON
import Model
import TestSupport
import Testing

@testable import Gateway

/// Signatures after the Standard Webhooks specification.
struct WebhookSignatureTests {
  /// The example of the specification's own libraries.
  private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  private static let id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
  private static let time: Int64 = 1_614_265_330
  private static let body = Array(#"{"test": 2432232314}"#.utf8)
  private static let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

  private static func verify(
    id: String? = id, timestamp: String? = "\(time)", signature: String? = signature,
    body: [UInt8] = body, now: Int64 = time, secrets: [String] = [secret]
  ) throws -> Bool {
    let head = try WebhookSignature(
      id: id, timestamp: timestamp, signature: signature,
      now: Timestamp(milliseconds: now * 1_000))
    return head.signs(body, with: try secrets.map { try #require(WebhookSignature.key($0)) })
  }

  @Test("The specification's example is valid, with any of several secrets and signatures")
  func exampleIsValid() throws {
    #expect(try Self.verify())
    let other = "whsec_" + Base64.encode(Array(repeating: 7, count: 32))
    #expect(try Self.verify(secrets: [other, Self.secret]))
    #expect(try !Self.verify(secrets: [other]))
    let others = "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc="
    #expect(try Self.verify(signature: "\(others) v1a,AAAA v2,BBBB \(Self.signature)"))
    #expect(try !Self.verify(signature: others))
    #expect(try Self.verify(secrets: ["MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]))
  }

  @Test("Everything that is signed counts")
  func everythingSignedCounts() throws {
    #expect(try !Self.verify(id: "msg_p5jXN8AQM9LWM0D4loKWxJel"))
    #expect(try !Self.verify(timestamp: "\(Self.time + 1)"))
    #expect(try !Self.verify(timestamp: "0\(Self.time)"))
    #expect(try !Self.verify(body: Self.body + [0x20]))
    #expect(try !Self.verify(body: []))
  }

  @Test("Five minutes in both directions are tolerated")
  func fiveMinutesAreTolerated() throws {
    for offset in [-300, -1, 0, 299, 300] as [Int64] {
      #expect(try Self.verify(now: Self.time + offset))
    }
    for offset in [-301, 301, 1 << 40] as [Int64] {
      #expect(throws: WebhookSignature.Refusal.expired) {
        try Self.verify(now: Self.time + offset)
      }
    }
  }

  struct Malformed: Sendable, CustomStringConvertible {
    var id: String? = WebhookSignatureTests.id
    var timestamp: String? = "\(WebhookSignatureTests.time)"
    var signature: String? = WebhookSignatureTests.signature
    let field: String
    var description: String { "\(id ?? "-") \(timestamp ?? "-") \(signature ?? "-")" }
  }

  @Test(
    "Malformed fields are refused by name before the body is read",
    arguments: [
      Malformed(id: nil, field: "webhook-id"), Malformed(id: "", field: "webhook-id"),
      Malformed(id: "a b", field: "webhook-id"), Malformed(id: "ä", field: "webhook-id"),
      Malformed(id: String(repeating: "a", count: 256), field: "webhook-id"),
      Malformed(timestamp: nil, field: "webhook-timestamp"),
      Malformed(timestamp: "", field: "webhook-timestamp"),
      Malformed(timestamp: "-1", field: "webhook-timestamp"),
      Malformed(timestamp: "+1614265330", field: "webhook-timestamp"),
      Malformed(timestamp: "1614265330.5", field: "webhook-timestamp"),
      Malformed(timestamp: "99999999999999999999", field: "webhook-timestamp"),
      Malformed(signature: nil, field: "webhook-signature"),
      Malformed(signature: "", field: "webhook-signature"),
      Malformed(signature: "v1", field: "webhook-signature"),
      Malformed(signature: "v1,*", field: "webhook-signature"),
      Malformed(signature: "v2,g0hM", field: "webhook-signature"),
      Malformed(
        signature: Array(repeating: "v1,g0hM", count: 17).joined(separator: " "),
        field: "webhook-signature"),
    ])
  func malformedFieldsAreRefused(malformed: Malformed) {
    #expect(throws: WebhookSignature.Refusal.malformed(field: malformed.field)) {
      try Self.verify(
        id: malformed.id, timestamp: malformed.timestamp, signature: malformed.signature)
    }
  }

  @Test("A secret has 24 to 64 bytes in base64")
  func secretsAreRead() {
    func text(_ count: Int) -> String { Base64.encode(Array(repeating: 9, count: count)) }
    for count in [24, 25, 26, 64] {
      #expect(WebhookSignature.key("whsec_" + text(count))?.byteCount == count)
      let unpadded = text(count).filter { $0 != "=" }
      #expect(WebhookSignature.key(unpadded)?.byteCount == count)
    }
    for secret in [
      "", "whsec_", text(23), text(65), "not base64 at all, but long enough", "whsec_",
    ] {
      #expect(WebhookSignature.key(secret) == nil, "\(secret)")
    }
  }

  @Test("Python's hmac agrees on random messages", arguments: [UInt64(4), 5])
  func pythonAgrees(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let script = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../Fixtures/standard_webhooks.py").standardized.path
    let requests = (0..<50).map { _ -> JSONValue in
      let key = (0..<Int.random(in: 24...64, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      let body = (0..<Int.random(in: 0...200, using: &random)).map { _ in
        UInt8.random(in: 0x20...0x7E, using: &random)
      }
      return [
        "secret": .string(Base64.encode(key)),
        "id": .string("m\(UInt32.random(in: 0...9, using: &random))"),
        "timestamp": .string("\(Self.time + Int64.random(in: -300...300, using: &random))"),
        "body": .string(String(decoding: body, as: UTF8.self)),
      ]
    }
    for (request, answer) in zip(
      requests, try PythonReference(script: script).answers(to: requests))
    {
      let isValid = try Self.verify(
        id: request["id"]?.string, timestamp: request["timestamp"]?.string,
        signature: answer.string, body: Array((request["body"]?.string ?? "").utf8),
        secrets: ["whsec_" + (request["secret"]?.string ?? "")])
      #expect(isValid, "seed \(seed): \(request.text)")
    }
  }
}
