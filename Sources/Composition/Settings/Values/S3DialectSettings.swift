/// Where the S3 dialect is served beside `/s3`, with its paths at the root.
package struct S3DialectSettings: Sendable {
  package var listen: [ListenAddress] = []
  /// Nil = no host name is the dialect's.
  package var host: String?
}
