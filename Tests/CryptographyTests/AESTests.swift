import Cryptography
import LosslessJSON
import Testing

struct AESTests {
  private static let key = SymmetricKey(data: [UInt8](repeating: 7, count: 32))
  private static let nonce = [UInt8](repeating: 1, count: 12)

  @Test("AES-256-GCM seals and opens as Wycheproof's cases say")
  func casesOfWycheproof() throws {
    let cases = Fixture.rows(Fixture.wycheproof["aes-gcm"])
    try #require(cases.count == 66)
    #expect(cases.contains { $0[1] == "invalid" } && cases.contains { $0[1] == "valid" })
    for row in cases {
      let fields = row.dropFirst(2).map { Fixture.bytes($0) }
      let (key, nonce, data) = (SymmetricKey(data: fields[0]), fields[1], fields[2])
      let opened = try? AES.GCM.open(
        fields[4], tag: fields[5], using: key, nonce: nonce, authenticating: data)
      guard row[1] == "valid" else {
        #expect(opened == nil, "case \(row[0])")
        continue
      }
      #expect(opened == fields[3], "case \(row[0])")
      let sealed = try AES.GCM.seal(fields[3], using: key, nonce: nonce, authenticating: data)
      #expect(sealed.ciphertext == fields[4] && sealed.tag == fields[5], "case \(row[0])")
    }
  }

  @Test("A change of any bit is found")
  func everyBitCounts() throws {
    let text = Array("secret".utf8)
    let sealed = try AES.GCM.seal(
      text, using: Self.key, nonce: Self.nonce, authenticating: [1, 2])
    let whole = sealed.ciphertext + sealed.tag
    for bit in 0..<whole.count * 8 {
      var changed = whole
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: AES.GCM.Fault.notAuthentic) {
        try AES.GCM.open(
          Array(changed.prefix(text.count)), tag: Array(changed.suffix(16)), using: Self.key,
          nonce: Self.nonce, authenticating: [1, 2])
      }
    }
    #expect(throws: AES.GCM.Fault.notAuthentic) {
      try AES.GCM.open(
        sealed.ciphertext, tag: sealed.tag, using: Self.key, nonce: Self.nonce,
        authenticating: [1, 3])
    }
  }

  @Test("Keys, nonces and tags of other lengths are refused", arguments: [0, 1, 16, 24, 31, 33])
  func otherLengths(count: Int) {
    let bytes = [UInt8](repeating: 1, count: count)
    #expect(throws: AES.GCM.Fault.wrongLength) {
      try AES.GCM.seal(
        [1], using: SymmetricKey(data: bytes), nonce: Self.nonce, authenticating: [])
    }
    #expect(throws: AES.GCM.Fault.wrongLength) {
      try AES.GCM.seal([1], using: Self.key, nonce: bytes, authenticating: [])
    }
    guard count != AES.GCM.tagByteCount else { return }
    #expect(throws: AES.GCM.Fault.wrongLength) {
      try AES.GCM.open([1], tag: bytes, using: Self.key, nonce: Self.nonce, authenticating: [])
    }
  }

  @Test("An empty text is sealed and opened")
  func nothingAtAll() throws {
    let sealed = try AES.GCM.seal([], using: Self.key, nonce: Self.nonce, authenticating: [])
    #expect(sealed.ciphertext.isEmpty && sealed.tag.count == 16)
    let opened = try AES.GCM.open(
      [], tag: sealed.tag, using: Self.key, nonce: Self.nonce, authenticating: [])
    #expect(opened.isEmpty)
  }
}
