package import Gateway

/// What the routes of the S3 dialect stand on; made by the composition.
package struct S3Services: Sendable {
  package let files: FileService
  package let authenticator: S3Authenticator
  package let keys: S3Keys
  /// The host name at which paths of the dialect begin at the root; nil for none.
  package let host: String?

  package init(
    files: FileService, authenticator: S3Authenticator, keys: S3Keys, host: String? = nil
  ) {
    self.files = files
    self.authenticator = authenticator
    self.keys = keys
    self.host = host?.lowercased()
  }
}
