import Testing

@testable import Endpoints

struct MetricsAcceptTests {
  @Test(
    "OpenMetrics is sent to clients that want it at least as much as plain text",
    arguments: [
      (nil, false), ("", false), ("*/*", false), ("text/plain", false),
      ("application/openmetrics-text", true),
      ("Application/OpenMetrics-Text; Version=1.0.0; charset=utf-8", true),
      ("application/openmetrics-text; version=0.0.1", false),
      ("application/openmetrics-text;version=2.0.0", false),
      ("application/openmetrics-text;q=0", false),
      ("application/openmetrics-text;q=0.2,text/plain;q=0.3", false),
      ("application/openmetrics-text;q=x", false),
      // Prometheus 2.42 and 3.
      (
        "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;"
          + "q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
        true
      ),
      (
        "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
          + "text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
        true
      ),
    ] as [(String?, Bool)])
  func choosesTheForm(accept: String?, isOpenMetrics: Bool) {
    #expect(MetricsEndpoint.prefersOpenMetrics(accept) == isOpenMetrics)
  }
}
