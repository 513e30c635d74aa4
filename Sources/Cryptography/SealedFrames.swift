/// The layout of a long text that is encrypted in frames, so that parts of it can be read without the rest.
///
/// ```
/// header: magic (8 octets), salt (24)
/// frame 0: 65,536 octets of the text, encrypted, and a tag (16)
/// …
/// the last frame: 1 to 65,536 octets (0 only for an empty text), and a tag
/// ```
package struct FrameLayout: Hashable, Sendable {
  /// Octets of the text in every frame but the last.
  package static let frameBytes = 64 << 10
  package static let headerBytes = FrameCipher.magic.count + FrameCipher.saltBytes
  static let tagBytes = AES.GCM.tagByteCount

  /// The length of the text.
  package let textBytes: Int

  package init(textBytes: Int) {
    precondition(textBytes >= 0)
    self.textBytes = textBytes
  }

  /// - Parameter sealedBytes: the length of header and frames.
  /// - Returns: nil if no text has this length when it is sealed: it was cut off.
  package init?(sealedBytes: Int) {
    let rest = sealedBytes - Self.headerBytes
    guard rest >= Self.tagBytes else { return nil }
    let (whole, last) = rest.quotientAndRemainder(dividingBy: Self.frameBytes + Self.tagBytes)
    // Nothing is in the last frame only if it is the first.
    guard last == 0 || last > Self.tagBytes || whole == 0 else { return nil }
    textBytes = whole * Self.frameBytes + (last == 0 ? 0 : last - Self.tagBytes)
  }

  package var frameCount: Int {
    max(1, (textBytes + Self.frameBytes - 1) / Self.frameBytes)
  }

  /// The length of header and frames.
  package var sealedBytes: Int {
    Self.headerBytes + textBytes + frameCount * Self.tagBytes
  }

  /// Returns the frames with the octets of a range of the text.
  package func frames(of range: Range<Int>) -> Range<Int> {
    precondition(range.lowerBound >= 0 && range.upperBound <= textBytes)
    let first = min(range.lowerBound / Self.frameBytes, frameCount - 1)
    let end = (range.upperBound + Self.frameBytes - 1) / Self.frameBytes
    return first..<max(first + 1, end)
  }

  /// Returns the place of frames among the sealed octets, with their tags.
  package func sealedRange(of frames: Range<Int>) -> Range<Int> {
    let start = Self.headerBytes + frames.lowerBound * (Self.frameBytes + Self.tagBytes)
    let text = textRange(of: frames)
    return start..<start + text.count + frames.count * Self.tagBytes
  }

  /// Returns the octets of the text that frames hold.
  package func textRange(of frames: Range<Int>) -> Range<Int> {
    let start = frames.lowerBound * Self.frameBytes
    return start..<min(frames.upperBound * Self.frameBytes, textBytes)
  }
}

/// An error of a reader of frames, which can be that a frame is not authentic.
package protocol FrameFault: Error {
  init(_ fault: AES.GCM.Fault)
}

extension AES.GCM.Fault: FrameFault {
  package init(_ fault: AES.GCM.Fault) { self = fault }
}

/// The encryption of one text in frames: AES-256-GCM under a key of its own, derived from the salt (HKDF),
/// with the frame's number as nonce (the STREAM construction of Hoang, Reyhanitabar, Rogaway and Vizár,
/// 2015, as Tink's AES-GCM-HKDF has it).
///
/// A frame authenticates its number and whether it is the last: frames that were changed, moved, taken
/// from another text, or cut off at the end are found when they are read.
package struct FrameCipher: Sendable {
  package static let magic = Array("LARDERE1".utf8)
  package static let saltBytes = 24

  /// The header of the text, to be stored before its frames.
  package let header: [UInt8]
  private let key: SymmetricKey

  /// - Parameters:
  ///   - root: shared by many texts; 32 octets or more.
  ///   - salt: ``saltBytes`` random octets, new for each text.
  package init(root: SymmetricKey, salt: [UInt8]) {
    precondition(salt.count == Self.saltBytes)
    header = Self.magic + salt
    key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: root, salt: salt, info: Self.magic,
      outputByteCount: AES.GCM.keyByteCount)
  }

  /// The encryption of a new text, with a salt of its own.
  ///
  /// - Parameter random: a new, unguessable number for each call.
  package init(root: SymmetricKey, random: () -> UInt64) {
    let numbers = (0..<Self.saltBytes / 8).map { _ in random() }
    self.init(
      root: root,
      salt: numbers.flatMap { number in
        (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
      })
  }

  /// - Returns: nil if this is not a header.
  package init?(root: SymmetricKey, header: [UInt8]) {
    guard header.count == FrameLayout.headerBytes, header.starts(with: Self.magic) else {
      return nil
    }
    self.init(root: root, salt: Array(header.dropFirst(Self.magic.count)))
  }

  /// Appends a frame with its tag to sealed octets.
  func seal(
    _ text: UnsafeRawBufferPointer, number: Int, isLast: Bool, to sealed: inout [UInt8]
  ) throws(AES.GCM.Fault) {
    let start = sealed.count
    sealed.append(contentsOf: repeatElement(0, count: text.count + FrameLayout.tagBytes))
    let result = sealed.withUnsafeMutableBytes { buffer in
      Result { () throws(AES.GCM.Fault) in
        try AES.GCM.seal(
          text, into: UnsafeMutableRawBufferPointer(rebasing: buffer[start...]), using: key,
          nonce: Self.nonce(number), authenticating: Self.data(number, isLast: isLast))
      }
    }
    try result.get()
  }

  /// Opens consecutive frames.
  ///
  /// - Parameter sealed: the octets of ``FrameLayout/sealedRange(of:)``.
  /// - Returns: the octets of ``FrameLayout/textRange(of:)``.
  package func open(
    _ sealed: [UInt8], _ frames: Range<Int>, of layout: FrameLayout
  ) throws(AES.GCM.Fault) -> [UInt8] {
    try open(frames, of: layout) { buffers throws(AES.GCM.Fault) in
      guard sealed.count == buffers.reduce(0, { $0 + $1.count }) else { throw .notAuthentic }
      var start = 0
      for buffer in buffers {
        buffer.copyBytes(from: sealed[start..<start + buffer.count])
        start += buffer.count
      }
    }
  }

  /// Opens consecutive frames where they are read to.
  ///
  /// - Parameter read: fills buffers, one after the other, with the octets of
  ///   ``FrameLayout/sealedRange(of:)``.
  /// - Returns: the octets of ``FrameLayout/textRange(of:)``.
  package func open<Fault: FrameFault>(
    _ frames: Range<Int>, of layout: FrameLayout,
    reading read: ([UnsafeMutableRawBufferPointer]) throws(Fault) -> Void
  ) throws(Fault) -> [UInt8] {
    let range = layout.textRange(of: frames)
    var tags = [UInt8](repeating: 0, count: frames.count * FrameLayout.tagBytes)
    var fault: Fault?
    let text = [UInt8](unsafeUninitializedCapacity: range.count) { text, count in
      tags.withUnsafeMutableBytes { tags in
        do throws(Fault) {
          let parts = Self.parts(frames.count, of: UnsafeMutableRawBufferPointer(text), tags)
          try read(parts.flatMap { [$0.text, $0.tag] })
          for (number, part) in zip(frames, parts) {
            let isLast = number == layout.frameCount - 1
            if let fault = open(part, number, isLast: isLast) { throw Fault(fault) }
          }
          count = range.count
        } catch {
          fault = error
        }
      }
    }
    if let fault { throw fault }
    return text
  }

  private typealias Part = (text: UnsafeMutableRawBufferPointer, tag: UnsafeMutableRawBufferPointer)

  private static func parts(
    _ count: Int, of text: UnsafeMutableRawBufferPointer, _ tags: UnsafeMutableRawBufferPointer
  ) -> [Part] {
    (0..<count).map { index in
      let start = index * FrameLayout.frameBytes
      let end = min(start + FrameLayout.frameBytes, text.count)
      let tag = index * FrameLayout.tagBytes
      return (
        UnsafeMutableRawBufferPointer(rebasing: text[start..<end]),
        UnsafeMutableRawBufferPointer(rebasing: tags[tag..<tag + FrameLayout.tagBytes])
      )
    }
  }

  private func open(_ part: Part, _ number: Int, isLast: Bool) -> AES.GCM.Fault? {
    do throws(AES.GCM.Fault) {
      try AES.GCM.open(
        inPlace: part.text, tag: UnsafeRawBufferPointer(part.tag), using: key,
        nonce: Self.nonce(number), authenticating: Self.data(number, isLast: isLast))
      return nil
    } catch {
      return error
    }
  }

  /// The key belongs to one text, so its frames' numbers never repeat under it.
  private static func nonce(_ number: Int) -> [UInt8] { [0, 0, 0, 0] + octets(number) }

  private static func data(_ number: Int, isLast: Bool) -> [UInt8] {
    octets(number) + [isLast ? 1 : 0]
  }

  /// Most significant octet first.
  private static func octets(_ number: Int) -> [UInt8] {
    (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }
}

/// Seals a text that comes in pieces. Holds back at most one frame: only the end shows which is the last.
package struct FrameSealing: Sendable {
  private let cipher: FrameCipher
  private var held: [UInt8] = []
  /// The number of the next frame.
  private var number = 0
  private var hasHeader = false

  package init(_ cipher: FrameCipher) {
    self.cipher = cipher
    held.reserveCapacity(FrameLayout.frameBytes)
  }

  /// - Returns: the sealed octets that are complete.
  package mutating func append(_ piece: [UInt8]) throws(AES.GCM.Fault) -> [UInt8] {
    var sealed = takeHeader()
    sealed.reserveCapacity(sealed.count + piece.count + piece.count / 1024 + 4096)
    var rest = piece[...]
    while !rest.isEmpty {
      if held.count == FrameLayout.frameBytes { try sealHeld(isLast: false, to: &sealed) }
      let part = rest.prefix(FrameLayout.frameBytes - held.count)
      held += part
      rest = rest.dropFirst(part.count)
    }
    return sealed
  }

  /// Ends the text; nothing can be appended afterwards.
  ///
  /// - Returns: the sealed octets that are left.
  package mutating func finish() throws(AES.GCM.Fault) -> [UInt8] {
    var sealed = takeHeader()
    try sealHeld(isLast: true, to: &sealed)
    return sealed
  }

  private mutating func takeHeader() -> [UInt8] {
    defer { hasHeader = true }
    return hasHeader ? [] : cipher.header
  }

  private mutating func sealHeld(isLast: Bool, to sealed: inout [UInt8]) throws(AES.GCM.Fault) {
    let number = number
    let cipher = cipher
    let result = held.withUnsafeBytes { text in
      Result { () throws(AES.GCM.Fault) -> [UInt8] in
        var frame: [UInt8] = []
        try cipher.seal(text, number: number, isLast: isLast, to: &frame)
        return frame
      }
    }
    sealed += try result.get()
    held.removeAll(keepingCapacity: true)
    self.number += 1
  }
}
