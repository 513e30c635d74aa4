import Cryptography
import TestSupport
import Testing

struct SealedFramesTests {
  private static let root = SymmetricKey(data: (0..<32).map { UInt8($0) })
  private static let salt = (100..<124).map { UInt8($0) }
  /// The text's lengths around the ends of frames.
  private static let lengths = [
    0, 1, 15, 16, 65_535, 65_536, 65_537, 131_071, 131_072, 131_073, 200_000,
  ]

  private static func text(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 * 31 + $0 >> 8) }
  }

  private static func seal(
    _ text: [UInt8], root: SymmetricKey = root, salt: [UInt8] = salt, pieceBytes: Int = 50_001
  ) throws -> [UInt8] {
    var sealing = FrameSealing(FrameCipher(root: root, salt: salt))
    var sealed: [UInt8] = []
    for start in stride(from: 0, to: text.count, by: pieceBytes) {
      sealed += try sealing.append(Array(text[start..<min(start + pieceBytes, text.count)]))
    }
    return sealed + (try sealing.finish())
  }

  private static func open(
    _ sealed: [UInt8], _ frames: Range<Int>? = nil, root: SymmetricKey = root
  ) throws -> [UInt8] {
    let header = Array(sealed.prefix(FrameLayout.headerBytes))
    guard let cipher = FrameCipher(root: root, header: header),
      let layout = FrameLayout(sealedBytes: sealed.count)
    else { throw AES.GCM.Fault.notAuthentic }
    let frames = frames ?? 0..<layout.frameCount
    return try cipher.open(Array(sealed[layout.sealedRange(of: frames)]), frames, of: layout)
  }

  /// Computed by Python's `cryptography` from the description of ``FrameLayout`` and ``FrameCipher``.
  @Test(
    "Short texts are sealed as another implementation seals them",
    arguments: [
      ("", "e3d7470169319bd67d6254f1cf569ea8"),
      ("a", "84f8d69e151d8ac90802632d7f44375e83"),
      ("larder", "89dadf24b4d6f3ad39e9ee2a9437862e184d8d59b165"),
    ])
  func knownTexts(text: String, frames: String) throws {
    let header = "4c41524445524531" + Fixture.text(Self.salt)
    #expect(Fixture.text(try Self.seal(Array(text.utf8))) == header + frames)
  }

  @Test(
    "Long texts are sealed as another implementation seals them",
    arguments: [
      (65_535, "fc21c2b2cd4cdc29888da4d6c7d114adf00ddabb4dcba1121c9945541ea02900"),
      (65_536, "8fb20d98ec83527fa4a5095a4a4875e39a46f196106e28edc39a5ee7e411f291"),
      (65_537, "3069ac8ac5eea838c58a468bf0335d4650db5283e65900097d54ebb65716f53d"),
      (200_000, "fe7cf2bc566c7989b86f40deeeaac218a71cf1222fd8e5e002f4443a822ed441"),
    ])
  func knownDigests(count: Int, digest: String) throws {
    let text = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 31 + ($0 >> 8)) }
    #expect(Fixture.text(SHA256.hash(data: try Self.seal(text))) == digest)
  }

  @Test("A text is sealed the same in one piece and in many, and opens again", arguments: lengths)
  func piecesDoNotMatter(count: Int) throws {
    let text = Self.text(count)
    let sealed = try Self.seal(text)
    for pieceBytes in [997, 65_536, 1 << 20] {
      #expect(try Self.seal(text, pieceBytes: pieceBytes) == sealed)
    }
    #expect(try Self.open(sealed) == text)
    let layout = FrameLayout(textBytes: count)
    #expect(sealed.count == layout.sealedBytes)
    #expect(FrameLayout(sealedBytes: sealed.count) == layout)
  }

  @Test("A length belongs to one text's length or to none")
  func lengthsAreUnambiguous() {
    var found: [Int: Int] = [:]
    for count in 0...140_000 {
      let sealed = FrameLayout(textBytes: count).sealedBytes
      #expect(found.updateValue(count, forKey: sealed) == nil)
    }
    let largest = FrameLayout(textBytes: 140_000).sealedBytes
    for sealed in 0...largest {
      #expect(FrameLayout(sealedBytes: sealed)?.textBytes == found[sealed], "\(sealed)")
    }
  }

  @Test("Any frames can be read without the others", arguments: [UInt64(17)])
  func framesOpenAlone(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<40 {
      let count = Int.random(in: 0...400_000, using: &random)
      let text = Self.text(count)
      let sealed = try Self.seal(text)
      let layout = FrameLayout(textBytes: count)
      let start = Int.random(in: 0...count, using: &random)
      let range = start..<Int.random(in: start...count, using: &random)
      let frames = layout.frames(of: range)
      let place = layout.textRange(of: frames)
      #expect(
        range.isEmpty || place.contains(range.lowerBound) && place.upperBound >= range.upperBound)
      #expect(frames.count <= range.count / FrameLayout.frameBytes + 2)
      #expect(
        try Self.open(sealed, frames) == Array(text[place]), "seed \(seed), \(range) of \(count)")
    }
  }

  @Test("A change of any octet is found", arguments: [UInt64(5)])
  func changesAreFound(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let sealed = try Self.seal(Self.text(70_000))
    let places =
      Array(0..<FrameLayout.headerBytes) + [32, 65_567, 65_568, 65_583, 65_584, sealed.count - 1]
      + (0..<50).map { _ in Int.random(in: 0..<sealed.count, using: &random) }
    for place in places {
      var changed = sealed
      changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      #expect(throws: AES.GCM.Fault.notAuthentic, "octet \(place), seed \(seed)") {
        try Self.open(changed)
      }
    }
  }

  @Test("A text that was cut off anywhere is refused", arguments: [UInt64(6)])
  func cutsAreFound(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let sealed = try Self.seal(Self.text(200_000))
    let frame = FrameLayout.frameBytes + 16
    let lengths =
      (0...3).map { FrameLayout.headerBytes + $0 * frame } + [0, 31, sealed.count - 1]
      + (0..<50).map { _ in Int.random(in: 0..<sealed.count, using: &random) }
    for length in lengths {
      #expect(throws: AES.GCM.Fault.notAuthentic, "\(length) octets, seed \(seed)") {
        try Self.open(Array(sealed.prefix(length)))
      }
    }
  }

  @Test("Frames that were exchanged, repeated, left out or appended are refused")
  func orderIsFound() throws {
    let sealed = try Self.seal(Self.text(4 * 65_536))
    let other = try Self.seal(
      [UInt8](repeating: 9, count: 4 * 65_536), salt: Self.salt.reversed())
    func frames(_ text: [UInt8]) -> [[UInt8]] {
      (0..<4).map {
        Array(text[FrameLayout(textBytes: 4 * 65_536).sealedRange(of: $0..<$0 + 1)])
      }
    }
    let (own, strange) = (frames(sealed), frames(other))
    let header = Array(sealed.prefix(FrameLayout.headerBytes))
    #expect(try Self.open(header + own.joined()) == Self.text(4 * 65_536))
    for order in [
      [own[1], own[0], own[2], own[3]], [own[0], own[0], own[2], own[3]],
      [own[0], own[2], own[3]], [own[0], own[1], own[2]], own + [own[3]],
      [own[0], strange[1], own[2], own[3]], strange,
    ] {
      #expect(throws: AES.GCM.Fault.notAuthentic) { try Self.open(header + order.joined()) }
    }
  }

  @Test("Another key opens nothing, and each salt makes other octets")
  func keysAndSalts() throws {
    let text = Self.text(1000)
    let sealed = try Self.seal(text)
    #expect(throws: AES.GCM.Fault.notAuthentic) {
      try Self.open(sealed, root: SymmetricKey(data: [UInt8](repeating: 1, count: 32)))
    }
    let again = try Self.seal(text, salt: Self.salt.reversed())
    #expect(!zip(sealed, again).dropFirst(FrameLayout.headerBytes).allSatisfy { $0 == $1 })
    #expect(try Self.open(again) == text)
  }
}
