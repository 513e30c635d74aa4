/// Settings of a warm standby: a second machine that takes over when the first one fails.
package struct StandbySettings: Sendable {
  package static let nameDefault = "larder"

  /// The folder that both machines have mounted; nil for a bucket.
  package var folder: String?
  /// The bucket of an S3-compatible service; nil for a folder.
  package var bucket: String?
  /// Of the service of the bucket; nil = that of `files`.
  package var endpoint: ServiceURL?
  package var region: String?
  package var accessKey: String?
  package var secretKey: Secret?
  package var usesPathStyle: Bool?
  /// Encrypts and authenticates what is stored.
  package var secret: Secret?
  /// The folder, or the beginning of the keys, of everything that is stored.
  package var name = nameDefault
  /// How long a primary goes on without renewing its lease.
  package var lease = Duration.seconds(15)
  /// How long commits are collected before they are stored.
  package var segmentInterval = Duration.seconds(1)
  /// The maximum age of the latest snapshot.
  package var snapshotInterval = Duration.seconds(6 * 3_600)
  /// How far back a moment can be restored.
  package var keep = Duration.seconds(7 * 86_400)

  package var isOn: Bool { folder != nil || bucket != nil }
}
