import Cryptography
import Files
import Foundation
import HTTPWire
import Model
import TestSupport
import Testing
import Transport

/// The disk store with a key: all content on the disk is encrypted, and no caller sees a difference.
struct EncryptedFilesTests {
  static let key = SymmetricKey(data: [UInt8](repeating: 3, count: 32))
  /// In no file by chance.
  static let phrase = Array("the cherry orchard is sold".utf8)

  /// Content that repeats the phrase.
  static func content(_ count: Int) -> [UInt8] { (0..<count).map { phrase[$0 % phrase.count] } }

  /// The paths of all stored files.
  static func files(_ fixture: DiskFixture) throws -> [String] {
    let blobs = try fixture.blobs()
    return blobs.home.map { "\(fixture.path)/files/objects/\($0)" }
      + blobs.incoming.map { "\(fixture.path)/files/incoming/\($0)" }
  }

  static func bytes(_ path: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: path)))
  }

  static func holdsPhrase(_ path: String) throws -> Bool {
    try Data(contentsOf: URL(filePath: path)).range(of: Data(phrase)) != nil
  }

  @Test("The encrypted store fulfils the contract of file stores", arguments: ContractCase.all)
  func fulfilsTheContract(_ contract: ContractCase) async throws {
    let fixture = try DiskFixture(key: Self.key)
    try await contract.run(try await fixture.contract())
    #expect(try fixture.blobs().incoming == [])
    for path in try Self.files(fixture) {
      #expect(try Self.bytes(path).starts(with: Array("LARDERE1".utf8)))
    }
  }

  @Test("Nothing of the content is on the disk, whichever way it was written")
  func nothingIsPlain() async throws {
    let fixture = try DiskFixture(key: Self.key)
    let it = try await fixture.contract()
    let content = Self.content(300_000)
    try await it.put(content, at: "whole")
    try await it.put(Self.phrase, at: "short")
    _ = try await it.store.copy(
      try it.address("whole"), if: nil, to: try it.address("copy"), attributes: nil, CopyWrite())
    let upload = try await it.store.beginUpload(
      to: try it.address("parts"), attributes: ObjectAttributes(), quota: .none)
    let first = try await it.store.putPart(1, of: upload, .of(content), quota: .none)
    let second = try await it.store.copyPart(
      2, of: upload, from: try it.address("whole"), range: .closed(10, 99_999), if: nil,
      quota: .none)
    let open = try await it.store.beginUpload(
      to: try it.address("open"), attributes: ObjectAttributes(), quota: .none)
    _ = try await it.store.putPart(1, of: open, .of(content), quota: .none)
    _ = try await it.store.completeUpload(
      upload,
      parts: [
        PartReference(number: 1, tag: first.tag), PartReference(number: 2, tag: second.tag),
      ], if: .none)
    #expect(try await it.bytes("whole") == content)
    #expect(try await it.bytes("copy") == content)
    #expect(try await it.bytes("parts") == content + content[10...99_999])
    let files = try Self.files(fixture)
    #expect(files.count == 5)
    for path in files { #expect(try !Self.holdsPhrase(path), "\(path)") }
    // The same content in a store without a key is found.
    let plain = try DiskFixture()
    let other = try await plain.contract()
    try await other.put(content, at: "whole")
    #expect(try Self.files(plain).allSatisfy { try Self.holdsPhrase($0) })
  }

  @Test("Tags, sizes and quotas are those of the content")
  func metadataIsOfTheContent() async throws {
    let fixture = try DiskFixture(key: Self.key)
    let it = try await fixture.contract()
    let content = Self.content(100_000)
    let written = try await it.put(content, at: "k").metadata
    #expect(written.tag == Hexadecimal.encode(Insecure.MD5.hash(data: content)))
    #expect(written.size == 100_000)
    #expect(try await it.store.bucket(it.bucket).bytes == 100_000)
    // Another object of the same content looks different on the disk.
    try await it.put(content, at: "l")
    let files = try Self.files(fixture).map { try Self.bytes($0) }
    #expect(files.count == 2 && files[0] != files[1])
    #expect(files.allSatisfy { $0.count == 32 + 100_000 + 2 * 16 })
  }

  @Test(
    "Every range of an encrypted object is the same range of its content", arguments: [UInt64(23)])
  func rangesAreExact(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let fixture = try DiskFixture(key: Self.key)
    let it = try await fixture.contract()
    for round in 0..<6 {
      let count = round == 0 ? 65_536 * 5 : Int.random(in: 1...1_500_000, using: &random)
      let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
      try await it.put(content, at: "k")
      for _ in 0..<20 {
        let first = Int.random(in: 0..<count, using: &random)
        let last = Int.random(in: first..<count, using: &random)
        let read = try await it.bytes("k", range: .closed(first, last))
        #expect(read == Array(content[first...last]), "seed \(seed): \(first)-\(last) of \(count)")
      }
      #expect(try await it.bytes("k") == content, "seed \(seed): \(count)")
    }
  }

  /// A way in which the file of an object of 200,000 bytes is damaged.
  enum Damage: CaseIterable {
    case header, firstFrame, lastFrame, cutInFrame, cutAfterFrame, emptied, exchanged, other
  }

  @Test("A damaged file is an error, never other content", arguments: Damage.allCases)
  func damageIsFound(_ damage: Damage) async throws {
    let fixture = try DiskFixture(key: Self.key)
    let it = try await fixture.contract()
    let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 >> 4) }
    try await it.put(content, at: "k")
    let path = try #require(try Self.files(fixture).first)
    var bytes = try Self.bytes(path)
    let frame = 65_536 + 16
    switch damage {
    case .header: bytes[20] ^= 1
    case .firstFrame: bytes[32 + 100] ^= 1
    case .lastFrame: bytes[bytes.count - 20] ^= 1
    case .cutInFrame: bytes.removeLast(5000)
    case .cutAfterFrame: bytes.removeLast(bytes.count - 32 - 2 * frame)
    case .emptied: bytes = []
    case .exchanged:
      let first = Array(bytes[32..<32 + frame])
      bytes.replaceSubrange(32..<32 + frame, with: bytes[32 + frame..<32 + 2 * frame])
      bytes.replaceSubrange(32 + frame..<32 + 2 * frame, with: first)
    case .other:
      try await it.put(content.reversed(), at: "l")
      let other = try #require(try Self.files(fixture).first { $0 != path })
      let strange = try Self.bytes(other)
      bytes.replaceSubrange(32 + frame..<32 + 2 * frame, with: strange[32 + frame..<32 + 2 * frame])
    }
    try Data(bytes).write(to: URL(filePath: path))
    await #expect(throws: FileStoreError.self) { try await it.bytes("k") }
    // Frames that are whole are still served.
    guard damage == .lastFrame else { return }
    #expect(try await it.bytes("k", range: .closed(0, 100)) == Array(content[0...100]))
  }

  @Test("Files of one form are refused in the other, and with another key")
  func formsAreRefused() async throws {
    let other = SymmetricKey(data: [UInt8](repeating: 4, count: 32))
    for key in [Self.key, nil] {
      let fixture = try DiskFixture(key: key)
      let form = FileForm(folder: "\(fixture.path)/files")
      // Without files both forms are possible.
      try form.check(nil)
      if key == nil { try form.check(Self.key) }
      let it = try await fixture.contract()
      try await it.put([1], at: "k")
      try form.check(key)
      #expect(throws: key == nil ? FileForm.Fault.plain : .encrypted) {
        try form.check(key == nil ? Self.key : nil)
      }
      #expect(throws: key == nil ? FileForm.Fault.plain : .otherKey) { try form.check(other) }
      #expect(throws: FileStoreError.self) {
        try DiskFileStore.open(
          store: fixture.index, folder: "\(fixture.path)/files", pool: .init(threadsMax: 1),
          clock: WallClock { Timestamp(milliseconds: 0) },
          expiryClock: WallClock { Timestamp(milliseconds: 0) },
          random: { UInt64.random(in: 0...UInt64.max) }, key: other)
      }
      #expect(try await it.bytes("k") == [1])
    }
  }

  @Test("Files whose record is lost are not taken for files that are not encrypted")
  func lostRecord() async throws {
    let fixture = try DiskFixture(key: Self.key)
    let it = try await fixture.contract()
    try await it.put(Self.phrase, at: "k")
    let record = "\(fixture.path)/files/encryption"
    let form = FileForm(folder: "\(fixture.path)/files")
    try FileManager.default.removeItem(atPath: record)
    #expect(throws: FileForm.Fault.unrecorded) { try form.check(nil) }
    #expect(throws: FileForm.Fault.plain) {
      try form.check(SymmetricKey(data: [UInt8](repeating: 4, count: 32)))
    }
    // Its key proves that they are encrypted.
    try form.check(Self.key)
    for encrypts in [true, false] {
      let converted = try FileConversion(
        folder: "\(fixture.path)/files", key: Self.key, encrypts: encrypts,
        random: { UInt64.random(in: 0...UInt64.max) }
      ).run { false }
      #expect(converted == (encrypts ? 0 : 1))
      #expect(FileManager.default.fileExists(atPath: record) == encrypts)
      if encrypts { try FileManager.default.removeItem(atPath: record) }
    }
    #expect(try Self.files(fixture).map(Self.bytes) == [Self.phrase])
    try form.check(nil)
  }

  @Test("The error of a damaged file names the file")
  func damageIsNamed() async throws {
    let fixture = try DiskFixture(key: Self.key)
    let it = try await fixture.contract()
    try await it.put(Self.phrase, at: "k")
    let path = try #require(try Self.files(fixture).first)
    var bytes = try Self.bytes(path)
    bytes[bytes.count - 1] ^= 1
    try Data(bytes).write(to: URL(filePath: path))
    let name = try #require(path.split(separator: "/").last)
    await #expect {
      try await it.bytes("k")
    } throws: { error in
      guard case .other(let text) = error as? FileStoreError else { return false }
      return text.contains(name)
    }
  }

  @Test(
    "A damaged record of the form is a fault",
    arguments: ["", "encrypted", "larder files 2\nx\ny\n"])
  func damagedRecord(text: String) throws {
    let fixture = try DiskFixture(key: Self.key)
    try Data(text.utf8).write(to: URL(filePath: "\(fixture.path)/files/encryption"))
    #expect {
      try FileForm(folder: "\(fixture.path)/files").check(Self.key)
    } throws: { error in
      guard case .unreadable = error as? FileForm.Fault else { return false }
      return true
    }
  }
}
