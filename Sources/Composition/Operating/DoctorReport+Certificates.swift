import Model
import Transport

extension DoctorReport {
  /// Certificates that end sooner than this should have been renewed: most are after two thirds of
  /// their 90 days.
  private static let renewalDays: Int64 = 14

  /// One finding for each certificate, or for each fault of their files.
  static func certificates(_ settings: TLSSettings) -> [Finding] {
    guard let certificates = ServerCertificates(settings) else { return [] }
    do throws(TLSContextFaults) {
      let context = try certificates.read()
      let now = SystemClock.wall.now().milliseconds / 1000
      let warnings = ServerCertificates.warnings(of: context, secondsSince1970: now)
        .map { Finding(part: "certificate", verdict: .note, text: $0) }
      return context.certificates.map { finding($0, now: now) } + warnings
    } catch {
      return error.faults.map { Finding(part: "certificate", verdict: .bad, text: "\($0)") }
    }
  }

  private static func finding(_ certificate: TLSCertificateFacts, now: Int64) -> Finding {
    let days = (certificate.expirySeconds - now) / 86_400
    let names = certificate.names.isEmpty ? "no name" : certificate.names.joined(separator: ", ")
    let verdict: Finding.Verdict =
      certificate.expirySeconds <= now ? .bad : days < renewalDays ? .note : .good
    return Finding(
      part: "certificate", verdict: verdict,
      text: "\(certificate.files.certificate) is for \(names), "
        + (verdict == .bad ? "and has expired" : "and good for \(days) days"))
  }
}
