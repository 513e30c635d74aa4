import COpenSSL

/// Base64 with padding (RFC 4648 section 4), for handshakes below Model, whose `Base64` also decodes.
package enum Base64Block {
  package static func encode(_ bytes: [UInt8]) -> String {
    // OpenSSL writes a terminating zero too.
    let capacity = (bytes.count + 2) / 3 * 4 + 1
    return String(unsafeUninitializedCapacity: capacity) { text in
      Int(EVP_EncodeBlock(text.baseAddress, bytes, Int32(bytes.count)))
    }
  }
}
