import Model

extension SettingTable {
  private static let day = Duration.seconds(86_400)

  static let standby = SettingSection(
    "standby",
    "A second machine that takes over, without PostgreSQL. See [standby.md](standby.md).",
    [
      SettingKey(
        "standby.folder", \.standby.folder, .optional(.path), example: "/mnt/larder",
        doc:
          "Folder that both machines have mounted, for snapshots, the log and the lease. It must "
          + "exist. Either this or `standby.bucket`."),
      SettingKey(
        "standby.bucket", \.standby.bucket, .optional(.bucketName), example: "larder-standby",
        doc: "Bucket for the same, in an S3-compatible service with conditional writes. It must "
          + "exist."),
      SettingKey(
        "standby.endpoint", \.standby.endpoint, .optional(.url("http", "https")),
        example: "https://s3.eu-central-1.amazonaws.com",
        doc: "URL of the service of the bucket, without a path; defaults to `files.endpoint`."),
      SettingKey(
        "standby.region", \.standby.region, .optional(.text("a region")), example: "eu-central-1",
        doc: "Region that requests are signed for; defaults to `files.region`."),
      SettingKey(
        "standby.accessKey", \.standby.accessKey, .optional(.text("an access key id")),
        example: "AKIAEXAMPLE",
        doc: "Access key id for signing requests; defaults to `files.accessKey`."),
      SettingKey(
        "standby.secretKey", \.standby.secretKey, .optional(.secret("a secret of one line")),
        example: Secret.mask,
        doc: "Secret access key for signing requests; defaults to `files.secretKey`."),
      SettingKey(
        "standby.pathStyle", \.standby.usesPathStyle, .optional(.boolean), example: "false",
        doc: "Whether the bucket's name is part of the path instead of the host; defaults to "
          + "`files.pathStyle`."),
      SettingKey(
        "standby.secret", \.standby.secret, .optional(.secret("a secret", lengthMin: 32)),
        example: Secret.mask,
        doc: "Encrypts and authenticates what is stored; the same on both machines, such as the "
          + "output of `openssl rand -base64 32`. Required."),
      SettingKey(
        "standby.name", \.standby.name, .one(.clusterName), example: "shop",
        doc: "Folder, or beginning of the keys, of everything that is stored. Another name begins "
          + "another history."),
      SettingKey(
        "standby.lease", \.standby.lease, .one(.duration(.seconds(2) ... .seconds(600))),
        example: "15s",
        doc:
          "How long the primary goes on writing without renewing its lease: about the time after "
          + "which the standby replaces a primary that is gone, and the most that is lost with it."),
      SettingKey(
        "standby.segment", \.standby.segmentInterval,
        .one(.duration(.milliseconds(100) ... .seconds(60))), example: "1s",
        doc: "How long commits are collected before they are stored: usually the most that is lost "
          + "with the primary's machine. Shorter than `standby.lease`."),
      SettingKey(
        "standby.snapshots", \.standby.snapshotInterval,
        .one(.duration(.seconds(60)...(day * 7))), example: "6h",
        doc: "How old the latest snapshot can be until the primary writes another one."),
      SettingKey(
        "standby.keep", \.standby.keep, .one(.duration(.seconds(3_600)...(day * 366))),
        example: "7d",
        doc: "How far back a moment can be restored; older snapshots and log are removed."),
    ])
}
