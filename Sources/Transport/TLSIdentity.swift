import COpenSSL
import Glibc

/// A certificate chain with its matching private key.
final class TLSIdentity {
  let facts: TLSCertificateFacts
  /// Holds the chain and the key; not used for connections.
  private let holder: OpaquePointer

  /// Reads the two files. Blocks.
  init(_ files: TLSCertificateFiles) throws(TLSContextError) {
    guard let holder = SSL_CTX_new(TLS_server_method()) else { throw .outOfMemory }
    do throws(TLSContextError) {
      try Self.read(files, into: holder)
      guard let leaf = SSL_CTX_get0_certificate(holder) else {
        throw .certificateUnreadable(path: files.certificate, reason: "it is empty")
      }
      facts = TLSCertificateFacts(
        files: files, keyKind: Self.keyKind(of: leaf), names: Self.names(of: leaf),
        expirySeconds: Self.expiry(of: leaf), isKeyOpenToAll: Self.isOpenToAll(files.key))
    } catch {
      SSL_CTX_free(holder)
      throw error
    }
    self.holder = holder
  }

  deinit {
    SSL_CTX_free(holder)
  }

  /// Adds this chain to `context`, next to chains with other kinds of keys.
  func install(in context: OpaquePointer) -> Bool {
    SSL_CTX_use_cert_and_key(
      context, SSL_CTX_get0_certificate(holder), SSL_CTX_get0_privatekey(holder),
      larder_SSL_CTX_get0_chain(holder), 1) == 1
  }

  private static func read(
    _ files: TLSCertificateFiles, into holder: OpaquePointer
  ) throws(TLSContextError) {
    ERR_clear_error()
    guard SSL_CTX_use_certificate_chain_file(holder, files.certificate) == 1 else {
      throw .certificateUnreadable(
        path: files.certificate, reason: TLSProfile.takeErrorText())
    }
    var isEncrypted = false
    let isRead = withUnsafeMutablePointer(to: &isEncrypted) { isEncrypted in
      // Without these OpenSSL asks for a passphrase on the terminal.
      SSL_CTX_set_default_passwd_cb(holder) { _, _, _, asked in
        asked?.assumingMemoryBound(to: Bool.self).pointee = true
        return -1
      }
      SSL_CTX_set_default_passwd_cb_userdata(holder, isEncrypted)
      defer { SSL_CTX_set_default_passwd_cb_userdata(holder, nil) }
      return SSL_CTX_use_PrivateKey_file(holder, files.key, SSL_FILETYPE_PEM) == 1
    }
    guard !isEncrypted else {
      ERR_clear_error()
      throw .keyEncrypted(path: files.key)
    }
    guard isRead else {
      // OpenSSL compares the key with the certificate as it loads it.
      throw ERR_GET_REASON(ERR_peek_error()) == X509_R_KEY_VALUES_MISMATCH
        ? .keyMismatch(path: files.key)
        : .keyUnreadable(path: files.key, reason: TLSProfile.takeErrorText())
    }
    guard SSL_CTX_check_private_key(holder) == 1 else { throw .keyMismatch(path: files.key) }
  }

  private static func keyKind(of leaf: OpaquePointer) -> TLSCertificateFacts.KeyKind {
    switch EVP_PKEY_get_base_id(X509_get0_pubkey(leaf)) {
    case EVP_PKEY_RSA: .rsa
    case EVP_PKEY_EC: .ecdsa
    default: .other
    }
  }

  private static func names(of leaf: OpaquePointer) -> [String] {
    var names: [String] = []
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      for index in Int32(0)... {
        let length = larder_X509_alternative_name(leaf, index, buffer.baseAddress, buffer.count)
        guard length >= 0 else { return }
        let name = UnsafeRawBufferPointer(buffer)[..<Int(length)]
        if length > 0 { names.append(String(decoding: name, as: UTF8.self).lowercased()) }
      }
    }
    return names
  }

  private static func expiry(of leaf: OpaquePointer) -> Int64 {
    var moment = tm()
    guard ASN1_TIME_to_tm(X509_get0_notAfter(leaf), &moment) == 1 else { return 0 }
    return Int64(timegm(&moment))
  }

  private static func isOpenToAll(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IROTH != 0
  }
}

/// The two PEM files of a server certificate.
package struct TLSCertificateFiles: Hashable, Sendable {
  /// The chain, leaf first.
  package var certificate: String
  /// The leaf's key, without a passphrase.
  package var key: String

  package init(certificate: String, key: String) {
    self.certificate = certificate
    self.key = key
  }
}

/// Properties of a certificate in use.
package struct TLSCertificateFacts: Equatable, Sendable {
  enum KeyKind: Hashable, Sendable {
    case rsa
    case ecdsa
    case other
  }

  package let files: TLSCertificateFiles
  let keyKind: KeyKind
  /// Its DNS names, in lower case; `*` in `*.example.com` stands for one label.
  package let names: [String]
  /// The last second of its validity, since 1970.
  package let expirySeconds: Int64
  /// Whether every user of the machine can read the key.
  package let isKeyOpenToAll: Bool
}

/// The assignment of certificates to names.
struct TLSNamePlan: Equatable {
  /// Certificates offered together, by index, each with another kind of key. The first group is for
  /// clients that send no name, or an unknown one.
  private(set) var groups: [[Int]]
  /// The index of the group by name, wildcards as written.
  private(set) var groupByName: [String: Int] = [:]

  init(_ certificates: [TLSCertificateFacts]) {
    groups = [
      Self.group(of: certificates) { index in
        index == 0 || !Set(certificates[0].names).isDisjoint(with: certificates[index].names)
      }
    ]
    for name in Set(certificates.flatMap(\.names)).sorted() {
      let group = Self.group(of: certificates) { certificates[$0].names.contains(name) }
      if let known = groups.firstIndex(of: group) {
        groupByName[name] = known
      } else {
        groupByName[name] = groups.count
        groups.append(group)
      }
    }
  }

  /// The certificates that satisfy `serves`, the first of each kind of key.
  private static func group(
    of certificates: [TLSCertificateFacts], where serves: (Int) -> Bool
  ) -> [Int] {
    var kinds: Set<TLSCertificateFacts.KeyKind> = []
    return certificates.indices.filter { index in
      serves(index) && kinds.insert(certificates[index].keyKind).inserted
    }
  }
}
