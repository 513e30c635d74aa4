extension SettingTable {
  static let limits = SettingSection(
    "limits", "Bounds on what one caller may cost.",
    [
      SettingKey(
        "limits.head", \.limits.headBytesMax, .one(.byteSize((8 << 10)...(1 << 20))),
        example: "32KiB", doc: "Request line and fields together."),
      SettingKey(
        "limits.fields", \.limits.fieldsMax, .one(.wholeNumber(16...1_000)), example: "100",
        doc: "Fields of one request."),
      SettingKey(
        "limits.field", \.limits.fieldBytesMax, .one(.byteSize((1 << 10)...(1 << 20))),
        example: "16KiB", doc: "One field."),
      SettingKey(
        "limits.target", \.limits.targetBytesMax, .one(.byteSize(8_000...(64 << 10))),
        example: "8KiB", doc: "The request line: method, path and query."),
      SettingKey(
        "limits.body", \.limits.bodyBytesMax, .one(.byteSize((1 << 10)...(1 << 30))),
        example: "1MiB", doc: "A JSON body."),
      SettingKey(
        "limits.decompressedBody", \.limits.decompressedBytesMax,
        .one(.byteSize((1 << 10)...(1 << 30))), example: "10MiB",
        doc: "A compressed body once it is inflated."
      ).reserved,
      SettingKey(
        "limits.handshakeDeadline", \.limits.handshakeDeadline,
        .one(.duration(.seconds(1) ... .seconds(120))), example: "10s",
        doc: "From accepting a connection to the end of its TLS handshake."),
      SettingKey(
        "limits.headDeadline", \.limits.headDeadline,
        .one(.duration(.seconds(1) ... .seconds(120))),
        example: "10s", doc: "From the first byte of a head to its last."),
      SettingKey(
        "limits.stall", \.limits.stall, .one(.duration(.seconds(1) ... .seconds(600))),
        example: "60s", doc: "Longest pause inside a body or an answer."),
      SettingKey(
        "limits.keepAlive", \.limits.keepAlive, .one(.duration(.seconds(1) ... .seconds(3_600))),
        example: "75s", doc: "How long a connection may idle between requests."),
      SettingKey(
        "limits.requestsPerConnection", \.limits.requestsPerConnectionMax,
        .one(.wholeNumber(1...1_000_000)), example: "10000",
        doc: "Requests after which a connection is closed."),
      SettingKey(
        "limits.connectionAge", \.limits.connectionAgeMax,
        .one(.duration(.seconds(10) ... .seconds(86_400))), example: "1h",
        doc: "Age after which a connection is closed."),
      SettingKey(
        "limits.connections", \.limits.connectionsMax, .optional(.wholeNumber(1...1_000_000)),
        example: "4096", doc: "Connections at once; as many as the server can carry if unset."),
      SettingKey(
        "limits.connectionsPerAddress", \.limits.connectionsPerAddressMax,
        .optional(.wholeNumber(1...1_000_000)), example: "256",
        doc: "Connections at once from one address; unlimited if unset."),
      SettingKey(
        "limits.queryDeadline", \.limits.queryDeadline,
        .one(.duration(.milliseconds(100) ... .seconds(60))), example: "2s",
        doc: "How long a collection, a search or an SQL statement may run."
      ).reserved,
      SettingKey(
        "limits.rate", \.limits.rateMax, .optional(.wholeNumber(1...1_000_000)), example: "600",
        doc: "Requests of one caller in each `limits.rateWindow`; unlimited if unset."
      ).reserved,
      SettingKey(
        "limits.rateWindow", \.limits.rateWindow,
        .one(.duration(.seconds(1) ... .seconds(86_400))), example: "1m",
        doc: "What `limits.rate` is counted over."
      ).reserved,
    ])
}
