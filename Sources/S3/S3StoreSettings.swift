package import HTTPClient

/// Which S3-compatible service keeps the files, and how it is spoken to.
package struct S3StoreSettings: Sendable {
  /// Scheme, host and port. A path is not looked at.
  package var endpoint: HTTPURL
  package var region: String
  package var accessKey: String
  package var secretKey: String
  package var sessionToken: String?
  package var addressing: S3Addressing
  package var limits: S3StoreLimits

  package init(
    endpoint: HTTPURL, region: String, accessKey: String, secretKey: String,
    sessionToken: String? = nil, addressing: S3Addressing = .path,
    limits: S3StoreLimits = S3StoreLimits()
  ) {
    self.endpoint = endpoint
    self.region = region
    self.accessKey = accessKey
    self.secretKey = secretKey
    self.sessionToken = sessionToken
    self.addressing = addressing
    self.limits = limits
  }
}
