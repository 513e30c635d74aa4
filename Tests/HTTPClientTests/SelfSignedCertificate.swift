import Glibc
import TestSupport

/// A certificate for `localhost`, made with the `openssl` command; it is its own authority.
struct SelfSignedCertificate {
  struct Unavailable: Error {
    let status: Int32
  }

  private let folder: TestFolder
  var certificate: String { "\(folder.path)/leaf.pem" }
  var key: String { "\(folder.path)/leaf.key" }

  init() throws {
    folder = try TestFolder("client")
    let arguments = [
      "openssl", "req", "-x509", "-subj", "/CN=localhost", "-addext",
      "subjectAltName=DNS:localhost", "-days", "2", "-newkey", "ec", "-pkeyopt",
      "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", certificate,
    ]
    var vector: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
    defer { for pointer in vector { free(pointer) } }
    vector.append(nil)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var process = pid_t()
    let spawned = posix_spawnp(&process, "openssl", &actions, nil, vector, environ)
    guard spawned == 0 else { throw Unavailable(status: spawned) }
    var status: Int32 = 0
    waitpid(process, &status, 0)
    guard status == 0 else { throw Unavailable(status: status) }
  }
}
