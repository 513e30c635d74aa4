import Composition
import DemoUpstream
import Logging
import LosslessJSON
import TestSupport
import Testing

extension Ways {
  /// An upstream that does not accept the credential of the settings.
  struct ServiceCredentialTests {
    private static let operations = [
      "films": """
      query Seen($id: ID!) @cache(maxAge: 0, staleIfError: 600, scope: PUBLIC) {
        film(id: $id) { id title }
      }
      query Own($id: ID!) @cache(maxAge: 0, staleIfError: 600) { film(id: $id) { id title } }
      """
    ]

    private static func readiness(_ larder: RunningLarder) async throws -> JSONValue {
      try JSONValue(parsing: try await larder.get("/readyz").body)
    }

    private static func upstream(_ larder: RunningLarder) async throws -> JSONValue {
      let list = try JSONValue(
        parsing: try await larder.get("/v1/admin/upstreams", OperatingTests.admin).body)
      return try #require(list["items"]?.array?.first)
    }

    @Test(
      "Its refusal is the service's failure: stored responses serve, and operators learn the cure",
      arguments: [401, 403])
    func refusedServiceCredential(status: Int) async throws {
      let larder = try await RunningLarder.start(
        operations: Self.operations, service: "X-Api-Key: old")
      let good = try await larder.get("/v1/operations/Seen?id=f1")
      #expect(good.status == 200, "\(good.text)")
      #expect(try await Self.readiness(larder)["serviceCredentialRefused"] == nil)
      #expect(try await Self.upstream(larder)["serviceCredential"] == nil)
      try await larder.demo.change { $0.fail = .status(status) }

      let stale = try await larder.get("/v1/operations/Seen?id=f1")
      #expect(stale.status == 200 && stale.body == good.body)
      #expect(stale.cacheStatus?.hasSuffix("detail=stale-if-error") == true)
      let cold = try await larder.get("/v1/operations/Seen?id=f2")
      #expect(cold.status == 502, "\(cold.text)")
      let problem = try JSONValue(parsing: cold.body)
      #expect(problem["code"] == "upstream_failed" && problem["retry"] == "after")
      #expect(!cold.text.contains("X-Api-Key"), "the settings are shown to callers")

      // A user's own credential that is refused stays the user's.
      let user = ("Authorization", "Bearer opaque")
      let own = try await larder.get("/v1/operations/Own?id=f1", user)
      #expect(own.status == status, "\(own.text)")
      let code = try JSONValue(parsing: own.body)["code"]
      #expect(code == (status == 401 ? "upstream_unauthenticated" : "upstream_forbidden"))

      #expect(try await Self.readiness(larder)["serviceCredentialRefused"] == ["default"])
      #expect(try await larder.get("/readyz").status == 200)
      let refused = try #require(try await Self.upstream(larder)["serviceCredential"])
      #expect(refused["settings"] == ["upstream.headers.x-api-key"], "\(refused)")
      #expect(refused["reason"] == .string("status \(status)") && refused["accepted"] == false)
      let overview = try JSONValue(
        parsing: try await larder.get("/v1/admin/overview", OperatingTests.admin).body)
      #expect(overview["upstreams"]?.array?.first?["serviceCredential"] != nil)
      let metrics = try await larder.get("/metrics", OperatingTests.admin).text
      // Other services of this process have the same sample.
      #expect(metrics.contains(#"larder_upstream_credential_accepted{upstream="default"}"#))
      let lines = larder.log.lines.filter {
        $0.message == "upstream does not accept the service's credential"
      }
      #expect(lines.map(\.level) == [.warning])
      let cure = lines.first?.metadata["cure"]?.description
      #expect(cure?.contains("upstream.headers.x-api-key") == true)

      let loaded = try Settings.load(
        from: SettingsSources(
          file: .init(
            name: "\(larder.folder)/other.yaml",
            text: """
              data: \(larder.folder)/none
              upstream: {url: \(larder.demo.url), headers: {X-Api-Key: old}}
              """)))
      let report = await DoctorReport.examine(loaded)
      let finding = try #require(report.findings.first { $0.part == "upstream" })
      #expect(finding.verdict == .bad, "\(finding.text)")
      #expect(finding.cure?.contains("upstream.headers.x-api-key") == true)

      // The next accepted call ends it.
      try await larder.demo.change { $0.fail = .off }
      let hasEnded = try await eventuallyHolds {
        _ = try await larder.get("/v1/operations/Seen?id=f2", ("Cache-Control", "no-cache"))
        return try await Self.readiness(larder)["serviceCredentialRefused"] == nil
      }
      #expect(hasEnded)
      #expect(try await Self.upstream(larder)["serviceCredential"] == nil)
      await larder.stop()
    }
  }
}
