import COpenSSL

package enum AES {
  /// Authenticated encryption: AES-256 in Galois/counter mode (NIST SP 800-38D).
  package enum GCM {
    package enum Fault: Error, Hashable {
      /// A key that has not 256 bits, or a nonce or tag of another length.
      case wrongLength
      /// Altered, or sealed under another key or with other authenticated data.
      case notAuthentic
    }

    package static let keyByteCount = 32
    package static let nonceByteCount = 12
    package static let tagByteCount = 16

    /// - Parameter nonce: never used twice under one key.
    /// - Returns: what is sealed, as long as `text`, and its tag.
    package static func seal(
      _ text: [UInt8], using key: SymmetricKey, nonce: [UInt8], authenticating data: [UInt8]
    ) throws(Fault) -> (ciphertext: [UInt8], tag: [UInt8]) {
      let cipher = try Cipher(key, nonce: nonce, seals: true)
      try cipher.authenticate(data)
      let sealed = try cipher.process(text)
      guard cipher.finish(), let tag = cipher.tag() else { throw .wrongLength }
      return (sealed, tag)
    }

    /// - Returns: what was sealed; never any of it where the tag is not right.
    package static func open(
      _ ciphertext: [UInt8], tag: [UInt8], using key: SymmetricKey, nonce: [UInt8],
      authenticating data: [UInt8]
    ) throws(Fault) -> [UInt8] {
      guard tag.count == tagByteCount else { throw .wrongLength }
      let cipher = try Cipher(key, nonce: nonce, seals: false)
      try cipher.authenticate(data)
      let text = try cipher.process(ciphertext)
      cipher.expect(tag)
      guard cipher.finish() else { throw .notAuthentic }
      return text
    }

    /// Seals a text in memory of the caller.
    ///
    /// - Parameter sealed: as long as `text` and its tag, which follows it. The two must not overlap.
    static func seal(
      _ text: UnsafeRawBufferPointer, into sealed: UnsafeMutableRawBufferPointer,
      using key: SymmetricKey, nonce: [UInt8], authenticating data: [UInt8]
    ) throws(Fault) {
      guard sealed.count == text.count + tagByteCount else { throw .wrongLength }
      let cipher = try Cipher(key, nonce: nonce, seals: true)
      try cipher.authenticate(data)
      try cipher.process(text, into: sealed)
      guard cipher.finish(), let tag = cipher.tag() else { throw .wrongLength }
      UnsafeMutableRawBufferPointer(rebasing: sealed[text.count...]).copyBytes(from: tag)
    }

    /// Opens in place what ``seal(_:into:using:nonce:authenticating:)`` made. With a fault, `text` is zeros.
    ///
    /// - Parameter text: what was sealed, without its tag.
    static func open(
      inPlace text: UnsafeMutableRawBufferPointer, tag: UnsafeRawBufferPointer,
      using key: SymmetricKey, nonce: [UInt8], authenticating data: [UInt8]
    ) throws(Fault) {
      guard tag.count == tagByteCount else { throw .wrongLength }
      let cipher = try Cipher(key, nonce: nonce, seals: false)
      try cipher.authenticate(data)
      try cipher.process(UnsafeRawBufferPointer(text), into: text)
      cipher.expect(Array(tag))
      guard cipher.finish() else {
        if let start = text.baseAddress { OPENSSL_cleanse(start, text.count) }
        throw .notAuthentic
      }
    }
  }

  /// One text on its way through OpenSSL.
  private struct Cipher: ~Copyable {
    private static let algorithm = Algorithm()
    private let context: OpaquePointer

    private struct Algorithm: Sendable {
      // SAFETY: as of ``HashImplementation``.
      nonisolated(unsafe) let pointer: OpaquePointer

      init() {
        guard let pointer = EVP_CIPHER_fetch(nil, "AES-256-GCM", nil) else {
          fatalError("OpenSSL's configuration offers no AES-256-GCM")
        }
        self.pointer = pointer
      }
    }

    init(_ key: SymmetricKey, nonce: [UInt8], seals: Bool) throws(GCM.Fault) {
      context = try Self.context(key, nonce: nonce, seals: seals)
    }

    private static func context(
      _ key: SymmetricKey, nonce: [UInt8], seals: Bool
    ) throws(GCM.Fault) -> OpaquePointer {
      guard key.byteCount == GCM.keyByteCount, nonce.count == GCM.nonceByteCount else {
        throw .wrongLength
      }
      guard let context = EVP_CIPHER_CTX_new() else {
        fatalError("OpenSSL has no memory for a cipher")
      }
      let isReady = key.withUnsafeBytes { key in
        // 96 bits are the mode's own length of nonces, which is the default.
        EVP_CipherInit_ex2(
          context, algorithm.pointer, key.bindMemory(to: UInt8.self).baseAddress, nonce,
          seals ? 1 : 0, nil)
      }
      guard isReady == 1 else {
        EVP_CIPHER_CTX_free(context)
        throw .wrongLength
      }
      return context
    }

    deinit { EVP_CIPHER_CTX_free(context) }

    borrowing func authenticate(_ data: [UInt8]) throws(GCM.Fault) {
      guard !data.isEmpty else { return }
      var count: Int32 = 0
      guard let length = Int32(exactly: data.count),
        EVP_CipherUpdate(context, nil, &count, data, length) == 1
      else { throw .wrongLength }
    }

    borrowing func process(_ text: [UInt8]) throws(GCM.Fault) -> [UInt8] {
      guard !text.isEmpty else { return [] }
      var count: Int32 = 0
      var output = [UInt8](repeating: 0, count: text.count)
      guard let length = Int32(exactly: text.count),
        EVP_CipherUpdate(context, &output, &count, text, length) == 1, count == length
      else { throw .wrongLength }
      return output
    }

    /// - Parameter output: at least as long as the text; the same memory, or none of it.
    borrowing func process(
      _ text: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(GCM.Fault) {
      guard !text.isEmpty else { return }
      var count: Int32 = 0
      guard output.count >= text.count, let length = Int32(exactly: text.count),
        EVP_CipherUpdate(
          context, output.baseAddress?.assumingMemoryBound(to: UInt8.self), &count,
          text.baseAddress?.assumingMemoryBound(to: UInt8.self), length) == 1,
        count == length
      else { throw .wrongLength }
    }

    borrowing func expect(_ tag: [UInt8]) {
      var tag = tag
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag)
    }

    /// - Returns: whether the tag was right, for what is opened.
    borrowing func finish() -> Bool {
      var count: Int32 = 0
      var rest = [UInt8](repeating: 0, count: GCM.tagByteCount)
      return EVP_CipherFinal_ex(context, &rest, &count) == 1
    }

    borrowing func tag() -> [UInt8]? {
      var tag = [UInt8](repeating: 0, count: GCM.tagByteCount)
      let isDone = EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tag.count), &tag)
      return isDone == 1 ? tag : nil
    }
  }
}
