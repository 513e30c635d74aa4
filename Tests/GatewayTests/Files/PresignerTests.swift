import Cryptography
import Model
import Testing

@testable import Gateway

struct PresignerTests {
  private static let key = SymmetricKey(data: [UInt8](repeating: 7, count: 32))

  private static func address(_ key: String) throws -> ObjectAddress {
    ObjectAddress(bucket: try #require(BucketName("pics")), key: try #require(ObjectKey(key)))
  }

  private static func presigner(at seconds: Int64) -> Presigner {
    Presigner(key: key, clock: WallClock { Timestamp(milliseconds: seconds * 1000) })
  }

  /// The parts of a link's query.
  private static func parts(_ link: PresignedURL) -> (expires: String, signature: String) {
    let values = link.query.split(separator: "&").map { part in
      String(part.drop { $0 != "=" }.dropFirst())
    }
    return (values.first ?? "", values.last ?? "")
  }

  @Test("A link is valid until it expires")
  func validUntilExpiry() throws {
    let link = Self.presigner(at: 1000).sign(.get, try Self.address("a"), seconds: 60)
    #expect(link.expires == Timestamp(milliseconds: 1_060_000))
    let (expires, signature) = Self.parts(link)
    #expect(expires == "1060")
    try Self.presigner(at: 1059).check(
      .get, try Self.address("a"), expires: expires, signature: signature)
    #expect(throws: Failure.self) {
      try Self.presigner(at: 1060).check(
        .get, try Self.address("a"), expires: expires, signature: signature)
    }
  }

  @Test("A link is valid for one method and one object only")
  func boundToMethodAndObject() throws {
    let presigner = Self.presigner(at: 1000)
    let (expires, signature) = Self.parts(
      presigner.sign(.get, try Self.address("caf\u{E9}"), seconds: 60))
    for (method, key, expires, signature) in [
      (FileMethod.put, "caf\u{E9}", expires, signature),
      (.get, "cafe\u{301}", expires, signature), (.get, "caf\u{E9}x", expires, signature),
      (.get, "caf\u{E9}", "1061", signature), (.get, "caf\u{E9}", "+1060", signature),
      (.get, "caf\u{E9}", "01060", signature), (.get, "caf\u{E9}", "", signature),
      (.get, "caf\u{E9}", expires, ""), (.get, "caf\u{E9}", expires, signature + "A"),
    ] {
      #expect(throws: Failure.self) {
        try presigner.check(
          method, try Self.address(key), expires: expires, signature: signature)
      }
    }
  }
}
