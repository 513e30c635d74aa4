import Composition
import DemoUpstream
import Foundation
import HTTPServer
import Logging
import LosslessJSON
import Synchronization
import TestSupport
import Testing

extension Ways {
  /// What `/metrics` and the access log say of requests.
  struct MonitoringTests {
    /// The samples of one reading, by their names with labels.
    private struct Reading {
      let samples: [String: Double]

      init(_ text: String) {
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
        samples = Dictionary(
          lines.compactMap { line in
            line.lastIndex(of: " ").flatMap { blank in
              Double(line[line.index(after: blank)...]).map { (String(line[..<blank]), $0) }
            }
          }, uniquingKeysWith: { first, _ in first })
      }

      subscript(sample: String) -> Double { samples[sample] ?? 0 }

      /// The counts of outcomes of one operation.
      func outcomes(of operation: String) -> [String: Int] {
        var outcomes: [String: Int] = [:]
        let prefix = "larder_cache_responses_total{operation=\"\(operation)\",outcome=\""
        for (name, value) in samples where name.hasPrefix(prefix) {
          outcomes[String(name.dropFirst(prefix.count).dropLast(2))] = Int(value)
        }
        return outcomes
      }
    }

    private static func reading(_ larder: RunningLarder) async throws -> Reading {
      Reading(try await larder.get("/metrics", OperatingTests.admin).text)
    }

    private static let operations = [
      "meters": """
      query MeterFresh($id: ID!) @route(path: "/meters/{id}")
      @cache(maxAge: 600, staleIfError: 600, scope: PUBLIC) { film(id: $id) { id title } }
      query MeterStale($id: ID!) @cache(maxAge: 0, staleWhileRevalidate: 600, scope: PUBLIC) {
        film(id: $id) { id title }
      }
      query MeterOld($id: ID!) @cache(maxAge: 0, staleIfError: 600, scope: PUBLIC) {
        film(id: $id) { id title }
      }
      """
    ]

    /// The outcome that metrics must have for a response, by its own `Cache-Status`.
    private static func outcome(of response: RawResponse) -> String? {
      guard let status = response.cacheStatus else { return nil }
      let words = [
        ("detail=refreshing", "stale_while_revalidate"), ("detail=max-stale", "stale"),
        ("detail=stale-if-error", "stale_if_error"), ("detail=lookup", "lookup"),
        ("collapsed", "collapsed"), ("fwd=uri-miss", "miss"), ("fwd=stale", "refreshed"),
        ("fwd=request", "bypass"),
      ]
      return words.first { status.contains($0.0) }?.1
        ?? (response.status == 304 ? "not_modified" : "hit")
    }

    @Test("Each response is counted under the outcome that its Cache-Status tells")
    func outcomesAreCounted() async throws {
      let larder = try await RunningLarder.start(operations: Self.operations)
      var expected: [String: [String: Int]] = [:]
      func ask(
        _ operation: String, _ id: String, _ headers: (String, String)...
      ) async throws -> RawResponse {
        let response = try await larder.request(
          "GET", "/v1/operations/\(operation)?id=\(id)", headers: headers)
        let outcome = try #require(Self.outcome(of: response), "\(response.text)")
        expected[operation, default: [:]][outcome, default: 0] += 1
        return response
      }
      let first = try await ask("MeterFresh", "f1")
      let tag = try #require(first["etag"])
      for _ in 0..<3 { _ = try await ask("MeterFresh", "f1") }
      _ = try await ask("MeterFresh", "f1", ("If-None-Match", tag))
      _ = try await ask("MeterFresh", "f1", ("Cache-Control", "no-cache"))
      _ = try await ask("MeterFresh", "f1", ("Cache-Control", "no-store"))
      for _ in 0..<2 { _ = try await ask("MeterStale", "f1") }
      for _ in 0..<2 { _ = try await ask("MeterOld", "f1") }
      _ = try await ask("MeterOld", "f1", ("Cache-Control", "max-stale"))
      try await larder.demo.change { $0.fail = .status(500) }
      _ = try await ask("MeterFresh", "f1", ("Cache-Control", "no-cache"))
      #expect(
        Set(expected.values.flatMap(\.keys)).isSuperset(of: [
          "miss", "hit", "not_modified", "bypass", "stale_while_revalidate", "refreshed", "stale",
          "stale_if_error",
        ]), "\(expected)")
      // The loops add their counts four times a second.
      let isRight = try await eventuallyHolds {
        let reading = try await Self.reading(larder)
        return expected.allSatisfy { reading.outcomes(of: $0.key) == $0.value }
      }
      let reading = try await Self.reading(larder)
      #expect(isRight, "\(expected) \(expected.keys.map { reading.outcomes(of: $0) })")
      await larder.stop()
    }

    @Test("Reads that wait for the call of another one are counted as collapsed")
    func collapsedReads() async throws {
      let larder = try await RunningLarder.start(operations: Self.operations)
      try await larder.demo.change { $0.latency = .milliseconds(500) }
      let port = larder.port
      let answers = try await onOwnThread {
        let clients = try (0..<20).map { _ in try RawClient(port: port) }
        for client in clients { try client.send("GET /api/meters/f2 HTTP/1.1\r\nHost: x\r\n\r\n") }
        return try clients.map { try $0.response() }
      }
      let expected = Dictionary(
        grouping: answers.compactMap(Self.outcome), by: \.self
      ).mapValues(\.count)
      #expect(expected["collapsed", default: 0] > 10)
      let isRight = try await eventuallyHolds {
        try await Self.reading(larder).outcomes(of: "MeterFresh") == expected
      }
      #expect(isRight)
      await larder.stop()
    }

    @Test("Requests are counted by the route's pattern, never by their path")
    func routesAreBounded() async throws {
      let larder = try await RunningLarder.start(operations: Self.operations)
      let paths = [
        "/api/meters/f1", "/api/meters/secret-1", "/v1/operations/MeterFresh?id=f3",
        "/v1/operations/Nothing", "/nowhere/secret-2", "/v1/entities/Film/secret-3", "/%7e/secret",
        "/v1/files/secret-4/a", "/s3/secret-5/a",
      ]
      for path in paths {
        for method in ["GET", "HEAD", "POST", "DELETE", "OPTIONS"] {
          _ = try await larder.request(method, path)
        }
      }
      _ = try await onOwnThread { [port = larder.port] in
        let client = try RawClient(port: port)
        try client.send("SECRET-6 / HTTP/1.1\r\nHost: x\r\n\r\n")
        return try client.response().status
      }
      let name = "larder_http_request_duration_seconds_count"
      let isCounted = try await eventuallyHolds {
        let samples = try await Self.reading(larder).samples
        return samples.filter { $0.key.hasPrefix(name) }.values.reduce(0, +)
          > Double(paths.count * 5)
      }
      #expect(isCounted)
      let text = try await larder.get("/metrics", OperatingTests.admin).text
        .split(separator: "\n").filter { $0.hasPrefix("larder_http_request_") }
        .joined(separator: "\n")
      #expect(!text.lowercased().contains("secret"))
      let patterns = Set(
        larder.routes.compactMap { $0.split(separator: " ").last.map(String.init) })
      let routes = Set(text.matches(of: /route="([^"]*)"/).map { String($0.1) })
      #expect(routes.subtracting(patterns) == ["other"])
      #expect(routes.contains("/api/meters/{id}"))
      let methods = Set(text.matches(of: /method="([^"]*)"/).map { String($0.1) })
      #expect(methods == ["GET", "HEAD", "POST", "DELETE", "OPTIONS", "other"])
      await larder.stop()
    }

    @Test("Calls of upstream are timed by operation, and failures counted by kind")
    func upstreamCalls() async throws {
      let larder = try await RunningLarder.start(operations: Self.operations)
      let timed =
        #"larder_upstream_request_duration_seconds_count{operation="MeterOld",upstream="default"}"#
      func failures(_ kind: String) -> String {
        #"larder_upstream_failures_total{kind="\#(kind)",upstream="default"}"#
      }
      let before = try await Self.reading(larder)
      for _ in 0..<3 { _ = try await larder.get("/v1/operations/MeterOld?id=f1") }
      for (mode, kind) in [
        (FailMode.status(500), "status"), (.refuse, "not_sent"), (.brokenJSON, "malformed"),
        (.graphQLErrors, "graphql_errors"),
      ] {
        try await larder.demo.change { $0.fail = mode }
        let isCounted = try await eventuallyHolds {
          // A failure is remembered for a moment, and answered without another call.
          _ = try await larder.get("/v1/operations/MeterOld?id=f1", ("Cache-Control", "no-cache"))
          return try await Self.reading(larder)[failures(kind)] > before[failures(kind)]
        }
        #expect(isCounted, "\(kind)")
      }
      let after = try await Self.reading(larder)
      #expect(after[timed] - before[timed] >= 6)
      #expect(after[#"larder_upstream_reachable{upstream="default"}"#] <= 1)
      let states = ["closed", "open", "probing"].map {
        after[#"larder_upstream_breaker_state{state="\#($0)",upstream="default"}"#]
      }
      #expect(states.reduce(0, +) == 1)
      await larder.stop()
    }

    @Test("The service, its database, its disk and its process are described")
    func serviceAndProcess() async throws {
      let larder = try await RunningLarder.start(operations: Self.operations)
      _ = try await larder.get("/api/meters/f1")
      let positive = [
        "larder_database_bytes", "larder_disk_free_bytes", "larder_disk_size_bytes",
        "larder_change_log_head", "larder_memory_cache_bytes", "larder_memory_cache_responses",
        "larder_http_connections", "larder_http_connections_accepted_total",
        "process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds",
        "process_max_fds",
      ]
      let areCounted = try await eventuallyHolds {
        let reading = try await Self.reading(larder)
        return positive.allSatisfy { reading[$0] > 0 }
      }
      let reading = try await Self.reading(larder)
      #expect(areCounted, "\(positive.filter { reading[$0] <= 0 })")
      #expect(reading[#"larder_build_info{version="\#(Version.text)"}"#] == 1)
      #expect(reading["larder_operations"] == 3)
      #expect(reading["larder_change_log_lag"] == 0)
      let started = Date().timeIntervalSince1970 - reading["process_start_time_seconds"]
      #expect((0..<86_400).contains(started))
      await larder.stop()
    }

    @Test("OpenMetrics is served to clients that ask for it, with the same samples")
    func openMetrics() async throws {
      let larder = try await RunningLarder.start(operations: Self.operations)
      _ = try await larder.get("/api/meters/f1")
      let response = try await larder.get("/metrics", ("Accept", "application/openmetrics-text"))
      #expect(
        response["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
      #expect(response["vary"]?.contains("Accept") == true)
      #expect(response.text.hasSuffix("\n# EOF\n"))
      #expect(Reading(response.text)["larder_operations"] == 3)
      let described = Set(response.text.matches(of: /# HELP (\S+) (.*)/).map { String($0.1) })
      let typed = Set(response.text.matches(of: /# TYPE (\S+)/).map { String($0.1) })
      #expect(described == typed && described.count > 20)
      #expect(!response.text.contains("Not described."))
      await larder.stop()
    }

    @Test("A token for the metrics opens the metrics, and nothing else")
    func tokenOfMetrics() async throws {
      let token = String(repeating: "m", count: 32)
      let (own, wrong) = (("Authorization", "Bearer \(token)"), ("Authorization", "Bearer m"))
      for access in ["open", "admin"] {
        let larder = try await RunningLarder.start(
          settings: "metrics: {access: \(access), token: \(token)}")
        for (headers, status) in [
          ([], 401), ([wrong], 401), ([("Authorization", "Bearer user-ada")], 401), ([own], 200),
          ([OperatingTests.admin], 200),
        ] {
          let response = try await larder.request("GET", "/metrics", headers: headers)
          #expect(response.status == status, "\(headers) \(response.text)")
        }
        #expect(try await larder.get("/metrics", own).text.contains("origin=") == false)
        #expect(try await larder.get("/v1/admin/upstreams", own).status == 401)
        await larder.stop()
      }
    }

    @Test("Refusals by the rate limit are counted")
    func rateLimit() async throws {
      let larder = try await RunningLarder.start(settings: "limits: {rate: 3, rateWindow: 1s}")
      var refused = 0
      while refused < 3 {
        if try await larder.get("/v1/operations").status == 429 { refused += 1 }
      }
      let least = Double(refused)
      let isCounted = try await eventuallyHolds {
        let response = try await larder.get("/metrics")
        if response.status == 429 { refused += 1 }
        let count = Reading(response.text)["larder_rate_limit_refusals_total"]
        return count >= least && count <= Double(refused)
      }
      #expect(isCounted)
      await larder.stop()
    }

    // MARK: The access log

    /// The JSON lines of a service's access log.
    private static func lines(
      ids: String, operations: [String: String] = operations, timeout: String = "20s",
      _ ask: (RunningLarder) async throws -> Int
    ) async throws -> [JSONValue] {
      let larder = try await RunningLarder.start(operations: operations, upstreamTimeout: timeout)
      await larder.stopService()
      let written = Mutex<[UInt8]>([])
      larder.accessLines = LineSink { bytes in written.withLock { $0 += bytes } }
      larder.logSettings = "  format: json\n  ids: \(ids)"
      try await larder.startService()
      let count = try await ask(larder)
      let lines = {
        written.withLock { $0 }.split(separator: UInt8(ascii: "\n")).compactMap {
          try? JSONValue(parsing: Array($0))
        }
      }
      #expect(await eventuallyHolds { lines().count >= count })
      await larder.stop()
      return lines()
    }

    @Test("Access lines have operation, outcome, upstream time, trace, program and request id")
    func accessLines() async throws {
      let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
      let lines = try await Self.lines(ids: "off") { larder in
        for _ in 0..<2 {
          _ = try await larder.get(
            "/api/meters/f1", ("traceparent", "00-\(trace)-00f067aa0ba902b7-01"),
            ("User-Agent", "tests \"1\""), ("X-Request-Id", "of-the-proxy"))
        }
        return 2
      }
      #expect(lines.map { $0["operation"]?.string } == ["MeterFresh", "MeterFresh"])
      #expect(lines.map { $0["cache"]?.string } == ["miss", "hit"])
      #expect(lines[0]["upstream_us"] != nil && lines[1]["upstream_us"] == nil)
      for line in lines {
        #expect(line["trace_id"]?.string == trace)
        #expect(line["user_agent"]?.string == #"tests "1""#)
        #expect(line["request_id"]?.string == "of-the-proxy")
        #expect(line["device"] == nil && line["user"] == nil)
        let time = try #require(line["time"]?.string)
        #expect(time.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil, "\(time)")
      }
    }

    @Test(
      "Access lines of failed calls have the use of the cache and the time of upstream",
      arguments: [FailMode.refuse, .hang, .status(500), .status(503), .status(401), .brokenJSON])
    func accessLinesOfFailures(mode: FailMode) async throws {
      let reads = 12
      let lines = try await Self.lines(ids: "off", timeout: mode == .hang ? "1s" : "20s") {
        larder in
        try await larder.demo.change { $0.fail = mode }
        // From some failure on the circuit breaker refuses the calls of most modes.
        for id in 1...(mode == .hang ? 1 : reads) {
          #expect(try await larder.get("/api/meters/f\(id)").status >= 400)
        }
        _ = try await larder.post(
          "/v1/operations/MeterFresh", #"{"id":"f1"}"#, ("Cache-Control", "no-store"))
        _ = try await larder.get("/api/meters/f99", ("Cache-Control", "only-if-cached"))
        _ = try await larder.get("/v1/operations/MeterFresh?no=1")
        return (mode == .hang ? 1 : reads) + 3
      }
      // Lines of two connections can change places.
      for line in lines {
        let status = try #require(line["status"]?.number?.digits)
        #expect(status >= "400", "\(line)")
        #expect(line["operation"] == "MeterFresh", "\(line)")
        let target = try #require(line["target"]?.string)
        if target.hasSuffix("/f99") || target.hasSuffix("?no=1") {
          // Without a call of upstream.
          #expect(line["cache"] == nil && line["upstream_us"] == nil, "\(line)")
        } else if line["method"] == "POST" {
          #expect(line["cache"] == "bypass" && line["upstream_us"] != nil, "\(line)")
        } else {
          #expect(line["cache"] == "miss" && line["upstream_us"] != nil, "\(line)")
        }
      }
      guard mode == .hang else { return }
      let times = lines.compactMap { $0["upstream_us"]?.number.flatMap { Int($0.digits) } }
      #expect(times.max() ?? 0 >= 900_000, "\(lines)")
    }

    @Test("Access lines of mutations that upstream failed have its time")
    func accessLinesOfFailedMutations() async throws {
      let lines = try await Self.lines(
        ids: "off",
        operations: ["rate": "mutation Rate($id: ID!) { rateFilm(id: $id, stars: 3) { id } }"]
      ) { larder in
        try await larder.demo.change { $0.fail = .status(500) }
        #expect(try await larder.post("/v1/operations/Rate", #"{"id":"f1"}"#).status == 504)
        #expect(try await larder.post("/v1/operations/Rate", #"{"no":"f1"}"#).status == 400)
        return 2
      }
      // Lines of two connections can change places.
      for line in lines {
        #expect(
          (line["upstream_us"] != nil) == (line["status"]?.number?.digits == "504"), "\(line)")
      }
      #expect(lines.allSatisfy { $0["cache"] == nil && $0["operation"] == "Rate" })
    }

    @Test(
      "Devices are shown as they are, as digests or not at all",
      arguments: ["plain", "hashed", "off"])
    func loggedIDs(form: String) async throws {
      let id = Mutex("")
      let lines = try await Self.lines(ids: form) { larder in
        let device = try JSONValue(
          parsing: try await larder.post("/v1/devices", #"{"platform":"ios"}"#).body)
        id.withLock { $0 = device["id"]?.string ?? "" }
        let token = try #require(device["deviceToken"]?.string)
        for _ in 0..<2 {
          #expect(try await larder.get("/v1/devices/me", ("Device-Token", token)).status == 200)
        }
        return 3
      }
      let shown = lines.filter { $0["target"] == "/v1/devices/me" }.map { $0["device"]?.string }
      let plain = id.withLock { $0 }
      switch form {
      case "plain": #expect(shown == [plain, plain])
      case "hashed":
        #expect(shown[0] == shown[1] && shown[0]?.utf8.count == 16 && shown[0] != plain)
      default: #expect(shown == [nil, nil])
      }
    }

    @Test("Server-Timing has the time of upstream where it was called")
    func serverTiming() async throws {
      let larder = try await RunningLarder.start(operations: Self.operations)
      let miss = try await larder.get("/api/meters/f1")
      let pattern = /cache;desc=miss;dur=\d+\.\d, upstream;dur=\d+\.\d/
      #expect(miss["server-timing"]?.wholeMatch(of: pattern) != nil)
      let hit = try await larder.get("/api/meters/f1")
      #expect(hit["server-timing"]?.hasPrefix("cache;desc=hit") == true)
      #expect(hit["server-timing"]?.contains("upstream") == false)
      await larder.stop()
    }

    @Test("The start is logged with version, addresses, operations and upstreams")
    func startIsLogged() async throws {
      let larder = try await RunningLarder.start(operations: Self.operations)
      let line = try #require(larder.log.lines.first { $0.message == "started" })
      #expect(line.level == .notice)
      #expect(line.metadata["version"] == "\(Version.text)")
      #expect(line.metadata["operations"] == .stringConvertible(3))
      #expect(line.metadata["addresses"] == "http://127.0.0.1:\(larder.port)")
      #expect(line.metadata["upstreams"].map { "\($0)" }?.hasPrefix("default=http://") == true)
      await larder.stop()
    }

    @Test("A folder of pages that is missing is logged")
    func missingPagesAreLogged() async throws {
      let larder = try await RunningLarder.start(settings: "public: ./no-such-folder")
      let line = larder.log.lines.first { $0.message.contains("the pages at / was not found") }
      #expect(line?.level == .warning)
      #expect(line?.metadata["folder"].map { "\($0)" }?.hasSuffix("no-such-folder") == true)
      await larder.stop()
    }
  }
}
