import HTTPServer
import Transport

/// The certificate files that settings name, read at start and at each reload.
struct ServerCertificates: Sendable {
  private let files: [TLSCertificateFiles]

  /// Nil for plain HTTP.
  init?(_ settings: TLSSettings) {
    guard let first = TLSCertificateFiles(settings.certificateFile, settings.keyFile) else {
      return nil
    }
    let further = settings.certificates.sorted { $0.key < $1.key }
      .compactMap { TLSCertificateFiles($0.value.certificateFile, $0.value.keyFile) }
    files = [first] + further
  }

  func read() throws(TLSContextFaults) -> TLSServerContext {
    try TLSServerContext(files, plainHTTPResponse: PlainRequestResponse.bytes)
  }

  /// Warnings for the operator about certificates that work.
  static func warnings(of context: TLSServerContext, secondsSince1970 now: Int64) -> [String] {
    context.certificates.flatMap { certificate in
      var warnings: [String] = []
      if certificate.expirySeconds <= now {
        warnings.append("\(certificate.files.certificate) has expired")
      }
      if certificate.isKeyOpenToAll {
        warnings.append("\(certificate.files.key) is readable by every user; set its mode to 600")
      }
      return warnings
    }
  }
}

extension TLSCertificateFiles {
  fileprivate init?(_ certificate: String?, _ key: String?) {
    guard let certificate, let key else { return nil }
    self.init(certificate: certificate, key: key)
  }
}
