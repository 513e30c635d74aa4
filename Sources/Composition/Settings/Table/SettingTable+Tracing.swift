extension SettingTable {
  static let tracing = SettingSection(
    "tracing", "Traces, sent to an OpenTelemetry collector. See [tracing.md](tracing.md).",
    [
      SettingKey(
        "tracing.endpoint", \.tracing.endpoint, .optional(.url("http+unix", "http", "https")),
        example: "http://127.0.0.1:4318",
        doc: "Collector that spans are sent to by OTLP/HTTP with JSON; `/v1/traces` is added to an "
          + "address without a path. Nothing is recorded if unset."),
      SettingKey(
        "tracing.sample", \.tracing.sample, .one(.share), example: "0.01",
        doc: "Share of requests that are recorded, from 0 to 1. For requests with a `traceparent` "
          + "its sender decides."),
      SettingKey(
        "tracing.headers.<name>", membersOf: \.tracing.headers, named: .sentField,
        fresh: Secret(""), \.self, .one(.secret("a header value of one line")),
        example: "{X-Api-Key: my-key}",
        doc: "Header fields sent to the collector, such as a key."),
    ])
}
