extension SettingTable {
  static let tls = SettingSection(
    "tls",
    "HTTPS without a proxy. The files are read again at SIGHUP, without ending a connection.",
    [
      SettingKey(
        "tls.certificate", \.tls.certificateFile, .optional(.path), example: "./tls/chain.pem",
        doc: "PEM file of the certificate and its chain."),
      SettingKey(
        "tls.key", \.tls.keyFile, .optional(.path), example: "./tls/key.pem",
        doc: "PEM file of its private key, without a passphrase."),
      SettingKey(
        "tls.certificates.<certificate>.certificate", membersOf: \.tls.certificates,
        named: .certificateName, fresh: TLSSettings.Certificate(), \.certificateFile,
        .optional(.path), example: "./tls/other.pem",
        doc: "Another certificate: for clients that ask for its names, or, with another kind of "
          + "key for the same names, beside the first."),
      SettingKey(
        "tls.certificates.<certificate>.key", membersOf: \.tls.certificates,
        named: .certificateName, fresh: TLSSettings.Certificate(), \.keyFile, .optional(.path),
        example: "./tls/other.key", doc: "Its private key."),
      SettingKey(
        "tls.hsts", \.tls.strictTransportAge,
        .optional(.duration(.zero ... .seconds(2 * 366 * 86_400))), example: "365d",
        doc: "How long browsers shall use HTTPS alone for this host "
          + "(`Strict-Transport-Security`); `0s` takes it back. Not sent if unset."),
    ])
}

extension TextForm where Value == String {
  /// A name for whoever reads the file.
  fileprivate static var certificateName: Self { .text("a name for the certificate") }
}
