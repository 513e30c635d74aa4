import OneSignalDouble
import Testing

@testable import Composition

struct AccountDoctorTests {
  @Test("The doctor notes open sign-up together with service credentials")
  func notesOpenSignUp() async {
    var settings = Settings(folder: "/nowhere")
    #expect(await DoctorReport.accounts(settings).map(\.verdict) == [.good])
    settings.upstream.secret = Secret("s")
    #expect(await DoctorReport.accounts(settings).map(\.verdict) == [.note])
    settings.accounts.signUp = .admin
    #expect(await DoctorReport.accounts(settings).map(\.verdict) == [.good])
  }

  @Test("The doctor reports an issuer that does not respond")
  func reportsUnreachableIssuer() async throws {
    var settings = Settings(folder: "/nowhere")
    settings.accounts.issuers["partner"] = AccountsSettings.Issuer(
      url: try ServiceURL(parsing: "http://127.0.0.1:9", schemes: ["http"]), audience: "a")
    let findings = await DoctorReport.accounts(settings)
    #expect(findings.map(\.verdict) == [.good, .bad])
    #expect(findings.last?.text.hasPrefix("http://127.0.0.1:9: ") == true)
  }
}

/// The doctor's findings about OneSignal, over a socket.
struct PushDoctorTests {
  private static func findings(
    _ app: FakeOneSignal, at url: String, key: String? = nil, appID: String = FakeOneSignal.appID
  ) async throws -> [DoctorReport.Finding] {
    var settings = PushSettings()
    settings.sender = .onesignal
    settings.api = app.form == .current ? .current : .legacy
    settings.appID = appID
    settings.apiKey = Secret(key ?? app.key)
    settings.url = try ServiceURL(parsing: url, schemes: ["http"])
    return await DoctorReport.push(settings)
  }

  private static func expect(
    _ findings: [DoctorReport.Finding], _ verdict: DoctorReport.Finding.Verdict, _ words: String
  ) {
    #expect(findings.map(\.verdict) == [verdict])
    #expect(findings.first?.part == "push")
    #expect(findings.first?.text.contains(words) == true, "\(findings)")
  }

  @Test(
    "The doctor reports an accepted OneSignal key",
    arguments: OneSignalForm.allCases)
  func reportsAcceptedKey(_ form: OneSignalForm) async throws {
    let server = try await OneSignalServer(FakeOneSignal(form))
    server.app.know(["u1"])
    Self.expect(
      try await Self.findings(server.app, at: server.url), .good, "responds and accepts push.apiKey"
    )
    #expect(server.app.requests.count == 1)
    #expect(server.app.requests.allSatisfy { $0.hasPrefix("GET ") })
    #expect(server.app.notifications.isEmpty)
    await server.stop()
  }

  @Test("The doctor distinguishes a rejected key from an unreachable service")
  func reportsRejectedKey() async throws {
    let server = try await OneSignalServer(FakeOneSignal(.current))
    let refused = try await Self.findings(server.app, at: server.url, key: "wrong-key")
    Self.expect(refused, .bad, "rejects push.apiKey")
    #expect(refused.first?.text.contains("wrong-key") == false)
    Self.expect(
      try await Self.findings(server.app, at: server.url, appID: "another one"), .bad,
      "does not know push.appId")
    await server.stop()
    Self.expect(
      try await Self.findings(server.app, at: server.url), .bad, "cannot be reached")
  }

  @Test("The doctor distinguishes a wrong service from a busy OneSignal")
  func reportsWrongService() async throws {
    let server = try await OneSignalServer(FakeOneSignal(.current))
    server.app.answerNext(200, "<html>")
    Self.expect(
      try await Self.findings(server.app, at: server.url), .bad,
      "its response is not one of OneSignal")
    server.app.answerNext(429, #"{"errors":["API rate limit exceeded"]}"#, retryAfter: "1")
    Self.expect(try await Self.findings(server.app, at: server.url), .note, "it is busy")
    await server.stop()
  }

  @Test("The doctor calls no service for the outbox")
  func outboxNeedsNoProbe() async {
    #expect(await DoctorReport.push(PushSettings()).isEmpty)
  }
}
