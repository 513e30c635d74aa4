import COpenSSL

/// A hash function of OpenSSL.
package protocol HashFunction: Sendable {
  static var implementation: HashImplementation { get }
}

/// SHA-256 (FIPS 180-4).
package enum SHA256: HashFunction {
  package static let implementation = HashImplementation("SHA2-256", byteCount: 32)
}

/// Hash functions that formats of others demand, and that protect nothing.
package enum Insecure {
  /// SHA-1 (FIPS 180-4).
  package enum SHA1: HashFunction {
    package static let implementation = HashImplementation("SHA1", byteCount: 20)
  }

  /// MD5 (RFC 1321).
  package enum MD5: HashFunction {
    package static let implementation = HashImplementation("MD5", byteCount: 16)
  }
}

extension HashFunction {
  package typealias Digest = Cryptography.Digest<Self>

  /// Hashes one text. Not generic: other modules would run that unspecialised.
  package static func hash(data: [UInt8]) -> Digest {
    data.withUnsafeBytes { hash($0) }
  }

  /// Hashes one text.
  package static func hash(data: some Collection<UInt8>) -> Digest {
    if let digest = data.withContiguousStorageIfAvailable({ hash(UnsafeRawBufferPointer($0)) }) {
      return digest
    }
    return Array(data).withUnsafeBytes { hash($0) }
  }

  private static func hash(_ data: UnsafeRawBufferPointer) -> Digest {
    Digest { EVP_Digest(data.baseAddress, data.count, $0, nil, implementation.pointer, nil) == 1 }
  }
}

/// A hash function as OpenSSL's provider has it, looked up once and kept as long as the process.
package struct HashImplementation: Sendable {
  let name: String
  let byteCount: Int
  // SAFETY: OpenSSL's fetched algorithms are immutable and counted by atomics (openssl-threads(7)).
  nonisolated(unsafe) let pointer: OpaquePointer

  init(_ name: String, byteCount: Int) {
    guard let pointer = EVP_MD_fetch(nil, name, nil) else {
      fatalError("OpenSSL's configuration offers no \(name)")
    }
    self.name = name
    self.byteCount = byteCount
    self.pointer = pointer
  }
}

/// A hash of a text, or an authentication code of one.
package struct Digest<Function: HashFunction>: Hashable, Sendable, RandomAccessCollection {
  private let bytes: [UInt8]

  /// - Parameter fill: writes as many bytes as the function's hashes have; false where OpenSSL has
  ///   refused, which it does only without memory.
  init(_ fill: (UnsafeMutablePointer<UInt8>) -> Bool) {
    let count = Function.implementation.byteCount
    bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      guard let start = buffer.baseAddress, fill(start) else {
        fatalError("OpenSSL has no memory for \(Function.implementation.name)")
      }
      initialized = count
    }
  }

  /// Compares in a time that does not depend on the bytes.
  package static func == (left: Self, right: Self) -> Bool {
    CRYPTO_memcmp(left.bytes, right.bytes, Function.implementation.byteCount) == 0
  }

  /// Returns the first bytes. Not a slice of the digest: other modules would run its generic code
  /// unspecialised, at more than the hash costs.
  package func prefix(_ count: Int) -> [UInt8] { Array(bytes.prefix(count)) }

  package var startIndex: Int { 0 }
  package var endIndex: Int { bytes.count }
  package subscript(index: Int) -> UInt8 { bytes[index] }

  package func withContiguousStorageIfAvailable<R>(
    _ body: (UnsafeBufferPointer<UInt8>) throws -> R
  ) rethrows -> R? {
    try bytes.withContiguousStorageIfAvailable(body)
  }
}

/// A hash of a text that comes in pieces.
// SAFETY: the context belongs to this value alone, which cannot be copied.
package struct RunningHash<Function: HashFunction>: ~Copyable, @unchecked Sendable {
  private let context: OpaquePointer

  package init() {
    guard let context = EVP_MD_CTX_new(),
      EVP_DigestInit_ex2(context, Function.implementation.pointer, nil) == 1
    else { fatalError("OpenSSL has no memory for \(Function.implementation.name)") }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  package mutating func update(data: some Collection<UInt8>) {
    if data.withContiguousStorageIfAvailable({ update(bufferPointer: .init($0)) }) == nil {
      Array(data).withUnsafeBytes { update(bufferPointer: $0) }
    }
  }

  package mutating func update(bufferPointer data: UnsafeRawBufferPointer) {
    // OpenSSL refuses only what was finished.
    let isDone = EVP_DigestUpdate(context, data.baseAddress, data.count)
    precondition(isDone == 1)
  }

  /// The hash of what has come so far; more can follow.
  package borrowing func finalize() -> Function.Digest {
    let copy = EVP_MD_CTX_new()
    defer { EVP_MD_CTX_free(copy) }
    return Function.Digest {
      EVP_MD_CTX_copy_ex(copy, context) == 1 && EVP_DigestFinal_ex(copy, $0, nil) == 1
    }
  }
}
