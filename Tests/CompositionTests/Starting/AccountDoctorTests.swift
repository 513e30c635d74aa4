import Testing

@testable import Composition

struct AccountDoctorTests {
  @Test func tellsWhatOpenSignUpOpens() async {
    var settings = Settings(folder: "/nowhere")
    #expect(await DoctorReport.accounts(settings).map(\.verdict) == [.good])
    settings.upstream.secret = Secret("s")
    #expect(await DoctorReport.accounts(settings).map(\.verdict) == [.note])
    settings.accounts.signUp = .admin
    #expect(await DoctorReport.accounts(settings).map(\.verdict) == [.good])
  }

  @Test func tellsWhichIssuerDoesNotAnswer() async throws {
    var settings = Settings(folder: "/nowhere")
    settings.accounts.issuers["partner"] = AccountsSettings.Issuer(
      url: try ServiceURL(parsing: "http://127.0.0.1:9", schemes: ["http"]), audience: "a")
    let findings = await DoctorReport.accounts(settings)
    #expect(findings.map(\.verdict) == [.good, .bad])
    #expect(findings.last?.text.hasPrefix("http://127.0.0.1:9: ") == true)
  }
}
