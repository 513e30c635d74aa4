extension SettingTable {
  static let limits = SettingSection(
    "limits", "Limits on requests, connections and callers.",
    heads + bodies + transfers + connections + callers)

  /// Limits of a request head; each row names the status of the response beyond it.
  private static let heads = [
    SettingKey(
      "limits.head", \.limits.headBytesMax, .one(.byteSize((8 << 10)...(1 << 20))),
      example: "32KiB",
      doc: "Maximum size of a request head (request line and fields); 431 beyond it."),
    SettingKey(
      "limits.fields", \.limits.fieldsMax, .one(.wholeNumber(16...1_000)), example: "100",
      doc: "Maximum number of fields of one request; 431 beyond it."),
    SettingKey(
      "limits.field", \.limits.fieldBytesMax, .one(.byteSize((1 << 10)...(1 << 20))),
      example: "16KiB", doc: "Maximum size of one field; 431 beyond it."),
    SettingKey(
      "limits.target", \.limits.targetBytesMax, .one(.byteSize(8_000...(64 << 10))),
      example: "8KiB",
      doc: "Maximum size of a request line (method, path and query); 414 beyond it."),
    SettingKey(
      "limits.method", \.limits.methodBytesMax, .one(.wholeNumber(16...256)), example: "32",
      doc: "Maximum length of a method; 501 beyond it."),
    SettingKey(
      "limits.leadingLines", \.limits.leadingLinesMax, .one(.wholeNumber(1...64)),
      example: "4", doc: "Maximum number of empty lines before a request; 400 beyond it."),
    SettingKey(
      "limits.handshakeDeadline", \.limits.handshakeDeadline,
      .one(.duration(.seconds(1) ... .seconds(120))), example: "10s",
      doc: "Maximum time from accepting a connection to the end of its TLS handshake."),
    SettingKey(
      "limits.headDeadline", \.limits.headDeadline,
      .one(.duration(.seconds(1) ... .seconds(120))),
      example: "10s",
      doc: "Maximum time from the first byte of a request head to its last; 408 beyond it."),
  ]

  private static let bodies = [
    SettingKey(
      "limits.body", \.limits.bodyBytesMax, .one(.byteSize((1 << 10)...(1 << 30))),
      example: "1MiB", doc: "Maximum size of a JSON body; 413 beyond it."),
    SettingKey(
      "limits.decompressedBody", \.limits.decompressedBytesMax,
      .one(.byteSize((1 << 10)...(1 << 30))), example: "10MiB",
      doc: "Maximum decoded size of a body sent with `Content-Encoding`; 413 beyond it."),
    SettingKey(
      "limits.decompressionRatio", \.limits.decompressionRatioMax,
      .one(.wholeNumber(1...1_032)), example: "10",
      doc: "Maximum decompression ratio of such a body once it exceeds `limits.body`; 413 beyond "
        + "it."),
    SettingKey(
      "limits.chunkDigits", \.limits.chunkSizeDigitsMax, .one(.wholeNumber(1...16)),
      example: "16", doc: "Maximum number of digits of a chunk size; 400 beyond it."),
    SettingKey(
      "limits.chunkExtension", \.limits.chunkExtensionBytesMax,
      .one(.byteSize(0...(8 << 10))), example: "256",
      doc: "Maximum size of the extensions of one chunk; 400 beyond it."),
    SettingKey(
      "limits.chunkOverhead", \.limits.chunkOverheadBytesMax,
      .one(.byteSize((1 << 10)...(1 << 20))), example: "16KiB",
      doc: "Maximum framing of a chunked body, in addition to a quarter of its content; 400 beyond "
        + "it."),
    SettingKey(
      "limits.trailers", \.limits.trailerBytesMax, .one(.byteSize((1 << 10)...(1 << 20))),
      example: "8KiB", doc: "Maximum size of a trailer section; 431 beyond it."),
    SettingKey(
      "limits.trailerFields", \.limits.trailerFieldsMax, .one(.wholeNumber(0...1_000)),
      example: "32", doc: "Maximum number of trailer fields; 431 beyond it."),
    SettingKey(
      "limits.unwantedBody", \.limits.unwantedBodyBytesMax,
      .one(.byteSize(0...(64 << 20))), example: "256KiB",
      doc: "Maximum bytes of a body read and discarded after an early response; the connection is "
        + "closed beyond it."),
    SettingKey(
      "limits.unwantedBodyPause", \.limits.unwantedBodyPauseMax,
      .one(.duration(.milliseconds(100) ... .seconds(60))), example: "1s",
      doc: "Maximum pause while such a body is discarded."),
    SettingKey(
      "limits.unwantedBodyDeadline", \.limits.unwantedBodyDeadline,
      .one(.duration(.milliseconds(100) ... .seconds(60))), example: "1s",
      doc: "Maximum time from that response to the end of such a body; the connection is closed "
        + "beyond it."),
  ]

  private static let transfers = [
    SettingKey(
      "limits.transferRate", \.limits.transferBytesPerSecondMin,
      .one(.byteSize(1...(1 << 20))), example: "240",
      doc: "Minimum bytes per second: of a request body (408 below it), and of a response that the "
        + "client reads (reset below it)."),
    SettingKey(
      "limits.transferGrace", \.limits.transferGrace,
      .one(.duration(.seconds(1) ... .seconds(120))), example: "5s",
      doc: "Time before `limits.transferRate` applies, to a body and to a response."),
    SettingKey(
      "limits.stall", \.limits.stall, .one(.duration(.seconds(1) ... .seconds(600))),
      example: "60s",
      doc: "Maximum pause in a body (408 beyond it) or in a response (reset beyond it)."),
    SettingKey(
      "limits.streamStall", \.limits.streamStall,
      .one(.duration(.seconds(1) ... .seconds(600))), example: "30s",
      doc: "Maximum time without the client of a live stream reading data that waits for it; reset "
        + "beyond it."),
    SettingKey(
      "limits.ranges", \.limits.rangesMax, .one(.wholeNumber(1...64)), example: "16",
      doc: "Maximum ranges in one request for a file; beyond it the whole file is sent."),
    SettingKey(
      "limits.overlappingRanges", \.limits.overlappingRangesMax, .one(.wholeNumber(0...16)),
      example: "2", doc: "Maximum number of these ranges that overlap or are out of order."),
  ]

  private static let connections = [
    SettingKey(
      "limits.keepAlive", \.limits.keepAlive, .one(.duration(.seconds(1) ... .seconds(3_600))),
      example: "75s", doc: "Maximum idle time of a connection between requests."),
    SettingKey(
      "limits.requestsPerConnection", \.limits.requestsPerConnectionMax,
      .one(.wholeNumber(1...1_000_000)), example: "10000",
      doc: "Maximum number of requests on one connection; it is then closed."),
    SettingKey(
      "limits.connectionAge", \.limits.connectionAgeMax,
      .one(.duration(.seconds(10) ... .seconds(86_400))), example: "1h",
      doc: "Maximum age of a connection; it is closed with its next response."),
    SettingKey(
      "limits.connections", \.limits.connectionsMax, .optional(.wholeNumber(1...1_000_000)),
      example: "4096",
      doc: "Maximum open connections. The upper bound, and the default, is the process's limit on "
        + "open files minus 64. Beyond it idle connections are closed, oldest first; if none is "
        + "idle, new ones get 503."),
    SettingKey(
      "limits.connectionsPerAddress", \.limits.connectionsPerAddressMax,
      .one(.wholeNumber(1...1_000_000)), example: "256",
      doc: "Maximum open connections from one address; further ones get 503 with `Retry-After`. "
        + "Does not apply to trusted proxies, Unix sockets, nodes of the same cluster, loopback and "
        + "private networks, whose addresses can stand for many clients."),
    SettingKey(
      "limits.retryAfter", \.limits.retryAfterSeconds, .one(.wholeNumber(1...3_600)),
      example: "1", doc: "Value of `Retry-After` in such a 503, in seconds."),
    SettingKey(
      "limits.readAhead", \.limits.readAheadBytesMax, .one(.byteSize((1 << 10)...(64 << 10))),
      example: "64KiB",
      doc: "Size of one read from a connection, and so the maximum buffered of requests pipelined "
        + "after the current one."),
    SettingKey(
      "limits.lingerBytes", \.limits.lingerBytesMax, .one(.byteSize(0...(1 << 30))),
      example: "16MiB",
      doc: "Maximum bytes read and discarded after a connection's last response."),
    SettingKey(
      "limits.lingerDeadline", \.limits.lingerDeadline,
      .one(.duration(.milliseconds(100) ... .seconds(60))), example: "2s",
      doc: "Maximum time from that response to the end of the connection."),
    SettingKey(
      "limits.backlog", \.limits.backlog, .one(.wholeNumber(1...65_535)), example: "1024",
      doc: "Maximum connections that the kernel queues until they are accepted, for each core."),
  ]

  private static let callers = [
    SettingKey(
      "limits.queryDeadline", \.limits.queryDeadline,
      .one(.duration(.milliseconds(100) ... .seconds(60))), example: "2s",
      doc: "Maximum run time of a collection, search or SQL query; 503 beyond it."),
    SettingKey(
      "limits.listMemory", \.limits.listBytesMax, .one(.byteSize((1 << 20)...(64 << 30))),
      example: "64MiB",
      doc: "Maximum memory of all lists that streams follow. All callers of a network without a "
        + "user or a registered device have half of it together, a user or a device a quarter. "
        + "New streams of lists get 503 beyond it."),
    SettingKey(
      "limits.rate", \.limits.rateMax, .optional(.wholeNumber(1...1_000_000)), example: "600",
      doc: "Maximum requests of one caller in each `limits.rateWindow`; 429 beyond it. A caller is "
        + "identified by a token verified here (a user's, a device's or the operator's), otherwise "
        + "by its address. Tokens that only upstream can verify count for their address, and so do "
        + "devices without a user if `devices.register` is `open`. Unlimited if unset."),
    SettingKey(
      "limits.rateWindow", \.limits.rateWindow,
      .one(.duration(.seconds(1) ... .seconds(86_400))), example: "1m",
      doc: "Period over which `limits.rate` is counted, from a caller's first request."),
  ]
}
