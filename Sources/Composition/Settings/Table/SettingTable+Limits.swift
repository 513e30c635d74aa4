extension SettingTable {
  static let limits = SettingSection(
    "limits", "Bounds on what one caller may cost.",
    heads + bodies + transfers + connections + callers)

  /// What is answered where a head passes them is beside each.
  private static let heads = [
    SettingKey(
      "limits.head", \.limits.headBytesMax, .one(.byteSize((8 << 10)...(1 << 20))),
      example: "32KiB", doc: "Request line and fields together; 431."),
    SettingKey(
      "limits.fields", \.limits.fieldsMax, .one(.wholeNumber(16...1_000)), example: "100",
      doc: "Fields of one request; 431."),
    SettingKey(
      "limits.field", \.limits.fieldBytesMax, .one(.byteSize((1 << 10)...(1 << 20))),
      example: "16KiB", doc: "One field; 431."),
    SettingKey(
      "limits.target", \.limits.targetBytesMax, .one(.byteSize(8_000...(64 << 10))),
      example: "8KiB", doc: "The request line: method, path and query; 414."),
    SettingKey(
      "limits.method", \.limits.methodBytesMax, .one(.wholeNumber(16...256)), example: "32",
      doc: "Letters of a method; 501."),
    SettingKey(
      "limits.leadingLines", \.limits.leadingLinesMax, .one(.wholeNumber(1...64)),
      example: "4", doc: "Empty lines before a request; 400."),
    SettingKey(
      "limits.handshakeDeadline", \.limits.handshakeDeadline,
      .one(.duration(.seconds(1) ... .seconds(120))), example: "10s",
      doc: "From accepting a connection to the end of its TLS handshake."),
    SettingKey(
      "limits.headDeadline", \.limits.headDeadline,
      .one(.duration(.seconds(1) ... .seconds(120))),
      example: "10s", doc: "From the first byte of a head to its last; 408."),
  ]

  private static let bodies = [
    SettingKey(
      "limits.body", \.limits.bodyBytesMax, .one(.byteSize((1 << 10)...(1 << 30))),
      example: "1MiB", doc: "A JSON body; 413."),
    SettingKey(
      "limits.decompressedBody", \.limits.decompressedBytesMax,
      .one(.byteSize((1 << 10)...(1 << 30))), example: "10MiB",
      doc: "A body sent with `Content-Encoding` once it is inflated; 413."),
    SettingKey(
      "limits.decompressionRatio", \.limits.decompressionRatioMax,
      .one(.wholeNumber(1...1_032)), example: "10",
      doc: "How often larger than it was sent such a body may be, past `limits.body`; 413."),
    SettingKey(
      "limits.chunkDigits", \.limits.chunkSizeDigitsMax, .one(.wholeNumber(1...16)),
      example: "16", doc: "Digits of a chunk's size; 400."),
    SettingKey(
      "limits.chunkExtension", \.limits.chunkExtensionBytesMax,
      .one(.byteSize(0...(8 << 10))), example: "256",
      doc: "Extensions of one chunk; 400."),
    SettingKey(
      "limits.chunkOverhead", \.limits.chunkOverheadBytesMax,
      .one(.byteSize((1 << 10)...(1 << 20))), example: "16KiB",
      doc: "Framing of a chunked body, on top of a quarter of its content; 400."),
    SettingKey(
      "limits.trailers", \.limits.trailerBytesMax, .one(.byteSize((1 << 10)...(1 << 20))),
      example: "8KiB", doc: "The trailer section; 431."),
    SettingKey(
      "limits.trailerFields", \.limits.trailerFieldsMax, .one(.wholeNumber(0...1_000)),
      example: "32", doc: "Fields of the trailer section; 431."),
    SettingKey(
      "limits.unwantedBody", \.limits.unwantedBodyBytesMax,
      .one(.byteSize(0...(64 << 20))), example: "256KiB",
      doc: "What is read and dropped of a body after an early answer; then the connection ends."),
    SettingKey(
      "limits.unwantedBodyPause", \.limits.unwantedBodyPauseMax,
      .one(.duration(.milliseconds(100) ... .seconds(60))), example: "1s",
      doc: "Longest pause in such a body."),
    SettingKey(
      "limits.unwantedBodyDeadline", \.limits.unwantedBodyDeadline,
      .one(.duration(.milliseconds(100) ... .seconds(60))), example: "1s",
      doc: "From that answer to the end of such a body; then the connection ends."),
  ]

  private static let transfers = [
    SettingKey(
      "limits.transferRate", \.limits.transferBytesPerSecondMin,
      .one(.byteSize(1...(1 << 20))), example: "240",
      doc: "The least a second that a body must bring (408) and a client must take (reset)."),
    SettingKey(
      "limits.transferGrace", \.limits.transferGrace,
      .one(.duration(.seconds(1) ... .seconds(120))), example: "5s",
      doc: "Before `limits.transferRate` counts, for a body and for an answer."),
    SettingKey(
      "limits.stall", \.limits.stall, .one(.duration(.seconds(1) ... .seconds(600))),
      example: "60s", doc: "Longest pause inside a body (408) or an answer (reset)."),
    SettingKey(
      "limits.streamStall", \.limits.streamStall,
      .one(.duration(.seconds(1) ... .seconds(600))), example: "30s",
      doc: "How long the client of a live stream may take nothing of what waits for it (reset)."),
    SettingKey(
      "limits.ranges", \.limits.rangesMax, .one(.wholeNumber(1...64)), example: "16",
      doc: "Ranges in one request for a file; with more it is sent whole."),
    SettingKey(
      "limits.overlappingRanges", \.limits.overlappingRangesMax, .one(.wholeNumber(0...16)),
      example: "2", doc: "How many of them may overlap, and stand out of order."),
  ]

  private static let connections = [
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
      doc: "Age after which a connection is closed with its next answer."),
    SettingKey(
      "limits.connections", \.limits.connectionsMax, .optional(.wholeNumber(1...1_000_000)),
      example: "4096",
      doc: "Connections at once: at most, and if unset, the process's limit on open files less 64. "
        + "Above it idle ones are closed, the oldest first, and newcomers get 503 where none is "
        + "idle."),
    SettingKey(
      "limits.connectionsPerAddress", \.limits.connectionsPerAddressMax,
      .one(.wholeNumber(1...1_000_000)), example: "256",
      doc: "Connections at once from one address; further ones get 503 with `Retry-After`. Not of "
        + "trusted proxies, Unix sockets, this machine and private networks, behind whose addresses "
        + "may be many clients."),
    SettingKey(
      "limits.retryAfter", \.limits.retryAfterSeconds, .one(.wholeNumber(1...3_600)),
      example: "1", doc: "Seconds that such a 503 tells in `Retry-After`."),
    SettingKey(
      "limits.readAhead", \.limits.readAheadBytesMax, .one(.byteSize((1 << 10)...(64 << 10))),
      example: "64KiB",
      doc: "What is read at once from a connection, and so the most that is kept of requests sent "
        + "behind one that is being answered."),
    SettingKey(
      "limits.lingerBytes", \.limits.lingerBytesMax, .one(.byteSize(0...(16 << 20))),
      example: "64KiB", doc: "What is read and dropped behind a connection's last answer."),
    SettingKey(
      "limits.lingerDeadline", \.limits.lingerDeadline,
      .one(.duration(.milliseconds(100) ... .seconds(60))), example: "2s",
      doc: "From that answer to the end of the connection."),
    SettingKey(
      "limits.backlog", \.limits.backlog, .one(.wholeNumber(1...65_535)), example: "1024",
      doc: "Connections the system keeps until they are accepted, for each core."),
  ]

  private static let callers = [
    SettingKey(
      "limits.queryDeadline", \.limits.queryDeadline,
      .one(.duration(.milliseconds(100) ... .seconds(60))), example: "2s",
      doc: "How long a collection, a search or an SQL statement may run; then 503."),
    SettingKey(
      "limits.rate", \.limits.rateMax, .optional(.wholeNumber(1...1_000_000)), example: "600",
      doc: "Requests of one caller in each `limits.rateWindow`; then 429. A caller is a token that "
        + "was verified here (a user's, a device's, the operator's) or else an address: tokens that "
        + "only upstream can verify count for their address, and so do devices without a user where "
        + "`devices.register` is `open`. Unlimited if unset."),
    SettingKey(
      "limits.rateWindow", \.limits.rateWindow,
      .one(.duration(.seconds(1) ... .seconds(86_400))), example: "1m",
      doc: "What `limits.rate` is counted over, from a caller's first request on."),
  ]
}
