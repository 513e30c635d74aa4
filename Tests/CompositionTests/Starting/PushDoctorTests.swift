import OneSignalDouble
import Testing

@testable import Composition

/// What the doctor says of OneSignal, asked over a socket.
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

  @Test(arguments: OneSignalForm.allCases)
  func aKeyThatIsTakenIsGood(_ form: OneSignalForm) async throws {
    let server = try await OneSignalServer(FakeOneSignal(form))
    server.app.know(["u1"])
    Self.expect(
      try await Self.findings(server.app, at: server.url), .good, "answers, and takes push.apiKey")
    #expect(server.app.requests.count == 1)
    #expect(server.app.requests.allSatisfy { $0.hasPrefix("GET ") })
    #expect(server.app.notifications.isEmpty)
    await server.stop()
  }

  @Test func aWrongKeyIsToldFromAServiceThatIsAway() async throws {
    let server = try await OneSignalServer(FakeOneSignal(.current))
    let refused = try await Self.findings(server.app, at: server.url, key: "wrong-key")
    Self.expect(refused, .bad, "does not take push.apiKey")
    #expect(refused.first?.text.contains("wrong-key") == false)
    Self.expect(
      try await Self.findings(server.app, at: server.url, appID: "another one"), .bad,
      "does not know push.appId")
    await server.stop()
    Self.expect(
      try await Self.findings(server.app, at: server.url), .bad, "cannot be reached")
  }

  @Test func whatIsNoOneSignalIsToldFromOneThatIsBusy() async throws {
    let server = try await OneSignalServer(FakeOneSignal(.current))
    server.app.answerNext(200, "<html>")
    Self.expect(
      try await Self.findings(server.app, at: server.url), .bad,
      "does not answer as OneSignal does")
    server.app.answerNext(429, #"{"errors":["API rate limit exceeded"]}"#, retryAfter: "1")
    Self.expect(try await Self.findings(server.app, at: server.url), .note, "it is busy")
    await server.stop()
  }

  @Test func theOutboxAsksNobody() async {
    #expect(await DoctorReport.push(PushSettings()).isEmpty)
  }
}
