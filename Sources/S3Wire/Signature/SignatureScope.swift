/// What a signature holds for: a day, a region and a service (AWS Signature Version 4, "credential
/// scope").
package struct SignatureScope: Hashable, Sendable {
  private static let end = "aws4_request"

  /// `yyyyMMdd`, UTC.
  package var day: String
  package var region: String
  package var service: String

  package init(day: String, region: String, service: String = "s3") {
    self.day = day
    self.region = region
    self.service = service
  }

  /// Reads ``text``.
  package init?(_ text: some StringProtocol) {
    let parts = Substring(text).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 4, parts[3] == Self.end, parts[0].utf8.count == 8,
      parts[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }), !parts[1].isEmpty,
      !parts[2].isEmpty
    else { return nil }
    self.init(day: String(parts[0]), region: String(parts[1]), service: String(parts[2]))
  }

  /// As it stands in a credential and in the string to sign: `20130524/us-east-1/s3/aws4_request`.
  package var text: String { "\(day)/\(region)/\(service)/\(Self.end)" }
}
