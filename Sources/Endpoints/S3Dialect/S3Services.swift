package import Gateway

/// What the routes of the S3 dialect stand on; made by the composition.
package struct S3Services: Sendable {
  package let files: FileService
  package let authenticator: S3Authenticator
  package let keys: S3Keys

  package init(files: FileService, authenticator: S3Authenticator, keys: S3Keys) {
    self.files = files
    self.authenticator = authenticator
    self.keys = keys
  }
}
