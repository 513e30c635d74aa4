/// What a signature holds for: a day, a region and a service (AWS Signature Version 4, "credential
/// scope").
package struct SignatureScope: Equatable, Sendable {
  /// `yyyyMMdd`, UTC.
  package var day: String
  package var region: String
  package var service: String

  package init(day: String, region: String, service: String = "s3") {
    self.day = day
    self.region = region
    self.service = service
  }

  /// As it stands in a credential and in the string to sign: `20130524/us-east-1/s3/aws4_request`.
  package var text: String { "\(day)/\(region)/\(service)/aws4_request" }
}
