extension SettingTable {
  static let files = SettingSection(
    "files", "Where files are kept.",
    [
      SettingKey(
        "files.store", \.files.store, .one(.choice), example: "s3",
        doc: "`disk` keeps them in the data folder, `s3` in an S3-compatible service."),
      SettingKey(
        "files.endpoint", \.files.endpoint, .optional(.url("http", "https")),
        example: "https://s3.eu-central-1.amazonaws.com", doc: "The S3-compatible service."),
      SettingKey(
        "files.region", \.files.region, .optional(.text("a region")), example: "eu-central-1",
        doc: "The region requests are signed for; us-east-1 if unset."),
      SettingKey(
        "files.accessKey", \.files.accessKey, .optional(.text("an access key's id")),
        example: "AKIAEXAMPLE", doc: "The id of the key that signs."),
      SettingKey(
        "files.secretKey", \.files.secretKey, .optional(.secret("a secret of one line")),
        example: Secret.mask, doc: "The key that signs."),
      SettingKey(
        "files.pathStyle", \.files.usesPathStyle, .one(.boolean), example: "false",
        doc: "Whether a bucket stands in the path, not in the host."),
      SettingKey(
        "files.uploadExpiry", \.files.uploadExpiry,
        .one(.duration(.seconds(60) ... .seconds(366 * 86_400))), example: "2d",
        doc: "Uploads in parts that are not complete after this are given up."),
      SettingKey(
        "files.buckets.<bucket>.access", membersOf: \.files.buckets, named: .bucketName,
        fresh: FilesSettings.Bucket(), \.access, .one(.choice), example: "public-read",
        doc: "Who may read and write the bucket; `admin` if unset."),
      SettingKey(
        "files.buckets.<bucket>.quota", membersOf: \.files.buckets, named: .bucketName,
        fresh: FilesSettings.Bucket(), \.quotaBytes, .optional(.byteSize(0...(1 << 50))),
        example: "10GiB",
        doc: "How much the bucket holds; as much as the disk if unset. Not with `s3`."),
      SettingKey(
        "files.buckets.<bucket>.userQuota", membersOf: \.files.buckets, named: .bucketName,
        fresh: FilesSettings.Bucket(), \.userQuotaBytes,
        .optional(.byteSize(0...(1 << 50))), example: "100MiB",
        doc: "How much of it one user's keys may take; if unset 1GiB with `access: user`, else as"
          + " the bucket. Not with `s3`."),
    ])

  static let s3 = SettingSection(
    "s3", "Where S3's own clients reach the files beside `/s3`, with buckets at the root.",
    [
      SettingKey(
        "s3.listen", \.s3.listen, .list(.listenAddress), example: "[\"127.0.0.1:9000\"]",
        doc: "Addresses that serve nothing else, for clients that cannot put a path before the "
          + "bucket."),
      SettingKey(
        "s3.host", \.s3.host, .optional(.hostName), example: "s3.example.com",
        doc:
          "A host name, on every address, that serves nothing else; `<bucket>.s3.example.com` is "
          + "one bucket."),
    ])

  static let push = SettingSection(
    "push", "How notifications leave.",
    [
      SettingKey(
        "push.sender", \.push.sender, .one(.choice), example: "onesignal",
        doc: "`outbox` keeps them and shows them in the console."),
      SettingKey(
        "push.appId", \.push.appID, .optional(.text("an application's id")),
        example: "b2f7f966-d8cc-11e4-bed1-df8f05be55ba", doc: "The application at OneSignal."),
      SettingKey(
        "push.apiKey", \.push.apiKey, .optional(.secret("a secret of one line")),
        example: Secret.mask, doc: "Its key."),
      SettingKey(
        "push.api", \.push.api, .one(.choice), example: "legacy",
        doc: "Which of OneSignal's interfaces the key is for."),
      SettingKey(
        "push.send", \.push.send, .one(.choice), example: "users",
        doc: "Who may send notifications; the operator always may."),
      SettingKey(
        "push.rate", \.push.sendsPerMinute, .one(.wholeNumber(1...100_000)), example: "60",
        doc: "Notifications a minute from one user, with `push.send: users`; then 429. Neither the "
          + "operator nor rules are counted."),
      SettingKey(
        "push.url", \.push.url, .optional(.url("http", "https")),
        example: "https://api.onesignal.com",
        doc: "Where OneSignal is asked; where its interface in `push.api` is if unset."),
      SettingKey(
        "push.rules", \.push.rules, .pushRules,
        example: "[{on: Message insert, to: recipientIds, text: New message}]",
        doc: "Notifications that changes send: `insert` one for each new entity, `update` one for "
          + "each later commit that changes what there is to say."),
    ])
}
