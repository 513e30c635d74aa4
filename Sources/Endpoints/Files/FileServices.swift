package import Gateway
package import HTTPServer

/// What the routes of files stand on; made by the composition.
package struct FileServices: Sendable {
  package let files: FileService
  package let opened: OpenedFiles
  /// Where clients reach this service, without a slash at its end.
  package let publicURL: @Sendable () -> String

  package init(
    files: FileService, opened: OpenedFiles, publicURL: @escaping @Sendable () -> String
  ) {
    self.files = files
    self.opened = opened
    self.publicURL = publicURL
  }
}
