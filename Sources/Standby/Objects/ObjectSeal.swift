import CZlib
import Cryptography

/// Seals objects with the secret that both machines have: compressed, encrypted, and bound to their names, so that a
/// store that others can write to can neither read them nor pass one off as another.
package struct ObjectSeal: Sendable {
  private static let info = Array("larder/standby objects".utf8)
  /// The usual trade of zlib for speed: segments are written once a second.
  private static let level: Int32 = 3
  /// Content shorter than this is not compressed.
  private static let compressedMin = 128
  /// A limit for damaged lengths, beyond the largest object.
  private static let contentBytesMax: Int64 = 1 << 32

  private let key: SymmetricKey

  /// - Parameter secret: 32 octets or more.
  package init(secret: [UInt8]) {
    key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: secret), info: Self.info, outputByteCount: 32)
  }

  package func seal(_ content: [UInt8], as name: String) throws(StandbyError) -> [UInt8] {
    var writer = ObjectWriter()
    writer.text(name)
    writer.number(Int64(content.count))
    let compressed = content.count < Self.compressedMin ? nil : Self.compress(content)
    writer.flag(compressed != nil)
    writer.blob(compressed ?? content)
    do throws(AES.GCM.Fault) {
      var sealing = FrameSealing(
        FrameCipher(root: key, random: { UInt64.random(in: 0...UInt64.max) }))
      let start = try sealing.append(writer.bytes)
      return start + (try sealing.finish())
    } catch {
      throw .faulty("\(name) cannot be encrypted: \(error)")
    }
  }

  package func open(_ sealed: [UInt8], as name: String) throws(StandbyError) -> [UInt8] {
    guard let layout = FrameLayout(sealedBytes: sealed.count),
      let cipher = FrameCipher(
        root: key, header: Array(sealed.prefix(FrameLayout.headerBytes)))
    else { throw Self.notAuthentic(name) }
    let text: [UInt8]
    do throws(AES.GCM.Fault) {
      let frames = 0..<layout.frameCount
      text = try cipher.open(Array(sealed[layout.sealedRange(of: frames)]), frames, of: layout)
    } catch {
      throw Self.notAuthentic(name)
    }
    var reader = ObjectReader(text)
    guard try reader.text() == name else {
      throw .faulty("\(name) is another object, which was renamed")
    }
    let count = try reader.number()
    let isCompressed = try reader.flag()
    let content = try reader.blob()
    guard isCompressed else { return content }
    guard (0...Self.contentBytesMax).contains(count),
      let expanded = Self.expand(content, count: Int(count))
    else { throw .faulty("\(name) cannot be expanded") }
    return expanded
  }

  private static func notAuthentic(_ name: String) -> StandbyError {
    .faulty(
      "\(name) was altered or cut off, or was written with another `standby.secret`; both machines need the same one"
    )
  }

  /// - Returns: nil if the result is not smaller.
  private static func compress(_ content: [UInt8]) -> [UInt8]? {
    let compressed = [UInt8](unsafeUninitializedCapacity: content.count) { output, count in
      var length = uLongf(output.count)
      let result = compress2(
        output.baseAddress, &length, content, uLong(content.count), level)
      count = result == Z_OK ? Int(length) : 0
    }
    return compressed.isEmpty ? nil : compressed
  }

  private static func expand(_ content: [UInt8], count: Int) -> [UInt8]? {
    let expanded = [UInt8](unsafeUninitializedCapacity: count) { output, written in
      var length = uLongf(output.count)
      let result = uncompress(output.baseAddress, &length, content, uLong(content.count))
      written = result == Z_OK ? Int(length) : 0
    }
    return expanded.count == count ? expanded : nil
  }
}
