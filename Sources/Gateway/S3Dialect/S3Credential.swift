import Model

/// An access key opened: what it signs with, and what requests signed with it may do.
struct S3Credential: Sendable {
  let id: String
  let secret: String
  let grant: S3Grant
}
