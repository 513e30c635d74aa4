extension SettingTable {
  static let files = SettingSection(
    "files", "File storage.",
    [
      .switch(
        "files", \.files.isOn,
        doc: "Whether files are stored and served. `s3` is off without them."),
      SettingKey(
        "files.store", \.files.store, .one(.choice), example: "s3",
        doc: "Where files are stored: in the data folder (`disk`), or in an S3-compatible service "
          + "(`s3`)."),
      SettingKey(
        "files.endpoint", \.files.endpoint, .optional(.url("http", "https")),
        example: "https://s3.eu-central-1.amazonaws.com",
        doc: "URL of the S3-compatible service, without a path."),
      SettingKey(
        "files.region", \.files.region, .optional(.text("a region")), example: "eu-central-1",
        doc: "Region that requests are signed for; defaults to `us-east-1`."),
      SettingKey(
        "files.accessKey", \.files.accessKey, .optional(.text("an access key id")),
        example: "AKIAEXAMPLE", doc: "Access key id for signing requests."),
      SettingKey(
        "files.secretKey", \.files.secretKey, .optional(.secret("a secret of one line")),
        example: Secret.mask, doc: "Secret access key for signing requests."),
      SettingKey(
        "files.pathStyle", \.files.usesPathStyle, .one(.boolean), example: "false",
        doc: "Whether bucket names are part of the path instead of the host."),
      SettingKey(
        "files.uploadExpiry", \.files.uploadExpiry,
        .one(.duration(.seconds(60) ... .seconds(366 * 86_400))), example: "2d",
        doc: "Time after which an incomplete multipart upload is aborted."),
      SettingKey(
        "files.buckets.<bucket>.access", membersOf: \.files.buckets, named: .bucketName,
        fresh: FilesSettings.Bucket(), \.access, .one(.choice), example: "public-read",
        doc: "Who may read and write the bucket; defaults to `admin`."),
      SettingKey(
        "files.buckets.<bucket>.quota", membersOf: \.files.buckets, named: .bucketName,
        fresh: FilesSettings.Bucket(), \.quotaBytes, .optional(.byteSize(0...(1 << 50))),
        example: "10GiB",
        doc: "Maximum size of the bucket; limited only by the disk if unset. Not available with "
          + "`files.store: s3`."),
      SettingKey(
        "files.buckets.<bucket>.userQuota", membersOf: \.files.buckets, named: .bucketName,
        fresh: FilesSettings.Bucket(), \.userQuotaBytes,
        .optional(.byteSize(0...(1 << 50))), example: "100MiB",
        doc: "Maximum size of one user's objects in the bucket; defaults to 1GiB with `access: "
          + "user`, otherwise to `quota`. Not available with `files.store: s3`."),
    ])

  static let s3 = SettingSection(
    "s3", "The S3 API at `/s3`, and further addresses of it, with buckets at the root.",
    [
      .switch("s3", \.s3.isOn, doc: "Whether files are served in the S3 API."),
      SettingKey(
        "s3.listen", \.s3.listen, .list(.listenAddress), example: "[\"127.0.0.1:9000\"]",
        doc: "Addresses that serve only the S3 API, for clients that cannot put a path before the "
          + "bucket."),
      SettingKey(
        "s3.host", \.s3.host, .optional(.hostName), example: "s3.example.com",
        doc: "Host name that serves only the S3 API, on every address; `<bucket>.s3.example.com` "
          + "is one bucket."),
    ])

  static let push = SettingSection(
    "push", "Push notifications.",
    [
      .switch(
        "push", \.push.isOn,
        doc: "Whether notifications are accepted and sent. Off without `devices`, and without "
          + "users (see `accounts.enabled`)."),
      SettingKey(
        "push.sender", \.push.sender, .one(.choice), example: "onesignal",
        doc: "Service that sends notifications; `outbox` only stores them and shows them in the "
          + "console."),
      SettingKey(
        "push.appId", \.push.appID, .optional(.text("an application id")),
        example: "b2f7f966-d8cc-11e4-bed1-df8f05be55ba", doc: "Application id at OneSignal."),
      SettingKey(
        "push.apiKey", \.push.apiKey, .optional(.secret("a secret of one line")),
        example: Secret.mask, doc: "API key of that application."),
      SettingKey(
        "push.api", \.push.api, .one(.choice), example: "legacy",
        doc: "OneSignal API that the key is for."),
      SettingKey(
        "push.send", \.push.send, .one(.choice), example: "users",
        doc: "Who may send notifications, besides the operator."),
      SettingKey(
        "push.rate", \.push.sendsPerMinute, .one(.wholeNumber(1...100_000)), example: "60",
        doc: "Maximum notifications per minute from one user, with `push.send: users`; 429 beyond "
          + "it. The operator and rules are not limited."),
      SettingKey(
        "push.url", \.push.url, .optional(.url("http", "https")),
        example: "https://api.onesignal.com",
        doc: "Base URL of OneSignal; defaults to that of `push.api`."),
      SettingKey(
        "push.rules", \.push.rules, .pushRules,
        example: "[{on: Message insert, to: recipientIds, text: New message}]",
        doc: "Notifications sent on changes: with `insert` one for each new entity, with `update` "
          + "one for each later commit that changes the notification."),
    ])
}
