import Glibc
import TestSupport
import Transport

/// Certificates for the tests, made once a run with the `openssl` command: an authority, a
/// certificate of it for `localhost` and 127.0.0.1, and a second authority that signed nothing.
struct TestCertificates {
  let directory: String
  var authority: String { directory + "/ca.pem" }
  var otherAuthority: String { directory + "/other.pem" }
  var certificate: String { directory + "/leaf.pem" }
  var key: String { directory + "/leaf.key" }
  var otherKey: String { directory + "/other.key" }

  var leaf: TLSCertificateFiles { TLSCertificateFiles(certificate: certificate, key: key) }

  static let shared = Result { try TestCertificates() }

  private init() throws {
    directory = try TestFolder.untilExit("certificates").path
    let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    for name in ["ca", "other"] {
      try run(
        ["req", "-x509", "-subj", "/CN=Test \(name)", "-days", "2"] + newKey
          + ["-keyout", "\(directory)/\(name).key", "-out", "\(directory)/\(name).pem"])
    }
    _ = try issue("leaf", for: "DNS:localhost,IP:127.0.0.1")
  }

  /// A certificate of the authority. - Parameter names: as `subjectAltName` writes them.
  func issue(
    _ file: String, for names: String,
    key: [String] = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
  ) throws -> TLSCertificateFiles {
    let path = "\(directory)/\(file)"
    try run(
      ["req", "-subj", "/CN=\(file)", "-addext", "subjectAltName=\(names)", "-newkey"] + key
        + ["-nodes", "-keyout", "\(path).key", "-out", "\(path).csr"])
    try run([
      "x509", "-req", "-in", "\(path).csr", "-CA", authority, "-CAkey", "\(directory)/ca.key",
      "-CAcreateserial", "-days", "2", "-copy_extensions", "copy", "-out", "\(path).pem",
    ])
    return TLSCertificateFiles(certificate: "\(path).pem", key: "\(path).key")
  }

  /// The leaf's key under a passphrase.
  func encryptedKey() throws -> String {
    let path = "\(directory)/encrypted.key"
    try run(["pkey", "-in", key, "-aes128", "-passout", "pass:larder", "-out", path])
    return path
  }

  private func run(_ arguments: [String]) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var vector: [UnsafeMutablePointer<CChar>?] = (["openssl"] + arguments).map { strdup($0) }
    defer { for pointer in vector { free(pointer) } }
    vector.append(nil)
    var pid = pid_t()
    let spawned = posix_spawnp(&pid, "openssl", &actions, nil, vector, environ)
    guard spawned == 0 else { throw TestFailure("openssl does not start: \(spawned)") }
    var status: Int32 = 0
    waitpid(pid, &status, 0)
    guard status == 0 else { throw TestFailure("openssl \(arguments[0]) failed: \(status)") }
  }
}

struct TestFailure: Error {
  let text: String
  init(_ text: String) { self.text = text }
}
