import Cryptography
import Files
import Foundation
import Model
import Testing
import Transport

/// Files that are encrypted or decrypted in place while no service runs.
struct FileConversionTests {
  private static let key = EncryptedFilesTests.key

  private static func convert(
    _ fixture: DiskFixture, encrypts: Bool, key: SymmetricKey = key, isInUse: Bool = false
  ) throws -> Int {
    try FileConversion(
      folder: "\(fixture.path)/files", key: key, encrypts: encrypts,
      random: { UInt64.random(in: 0...UInt64.max) }
    ).run { isInUse }
  }

  private static func open(_ fixture: DiskFixture, key: SymmetricKey?) throws -> DiskFileStore {
    let time = fixture.time
    return try DiskFileStore.open(
      store: fixture.index, folder: "\(fixture.path)/files", pool: .init(threadsMax: 2),
      clock: WallClock { time.now }, expiryClock: WallClock { time.lived },
      random: { UInt64.random(in: 0...UInt64.max) }, key: key)
  }

  private static let sizes = [0, 1, 65_536, 65_537, 200_000]

  private static func name(_ path: String) -> String {
    String(path.split(separator: "/").last ?? "")
  }

  /// Writes objects of all sizes, a copy that shares its content, a part, and a file that a crash left to
  /// be moved.
  private static func fill(_ fixture: DiskFixture) async throws {
    let it = try await fixture.contract()
    for size in sizes { try await it.put(EncryptedFilesTests.content(size), at: "\(size)") }
    _ = try await it.store.copy(
      try it.address("200000"), if: nil, to: try it.address("copy"), attributes: nil, CopyWrite())
    let upload = try await it.store.beginUpload(
      to: try it.address("open"), attributes: ObjectAttributes(), quota: .none)
    _ = try await it.store.putPart(
      1, of: upload, .of(EncryptedFilesTests.content(1000)), quota: .none)
    let home = try #require(try fixture.blobs().home.first)
    try FileManager.default.moveItem(
      atPath: "\(fixture.path)/files/objects/\(home)",
      toPath: "\(fixture.path)/files/incoming/\(name(home))")
  }

  private static func expectAll(_ fixture: DiskFixture, key: SymmetricKey?, note: String)
    async throws
  {
    let it = try ContractStore(
      store: try open(fixture, key: key), bucket: "bucket", partBytes: 1000)
    for size in sizes {
      #expect(
        try await it.bytes("\(size)") == EncryptedFilesTests.content(size), "\(note): \(size)")
    }
    #expect(try await it.bytes("copy") == EncryptedFilesTests.content(200_000), "\(note)")
    let upload = try #require(
      try await it.store.uploads(in: it.bucket, prefix: "", after: nil, limit: 1).uploads.first)
    let part = try #require(
      try await it.store.parts(of: upload.address, after: 0, limit: 1).parts.first)
    #expect(part.size == 1000)
    let files = try EncryptedFilesTests.files(fixture)
    #expect(files.count == sizes.count + 2, "\(note)")
    for path in files where try EncryptedFilesTests.bytes(path).count > 100 {
      #expect(try EncryptedFilesTests.holdsPhrase(path) == (key == nil), "\(note): \(path)")
    }
    #expect(!FileManager.default.fileExists(atPath: "\(fixture.path)/files/converted"), "\(note)")
  }

  @Test("Files are encrypted and decrypted again, and stay the same objects")
  func thereAndBack() async throws {
    let fixture = try DiskFixture()
    try await Self.fill(fixture)
    #expect(try Self.convert(fixture, encrypts: true) == Self.sizes.count + 2)
    try await Self.expectAll(fixture, key: Self.key, note: "encrypted")
    #expect(try Self.convert(fixture, encrypts: true) == 0)
    #expect(try Self.convert(fixture, encrypts: false) == Self.sizes.count + 2)
    try await Self.expectAll(fixture, key: nil, note: "decrypted")
    #expect(try Self.convert(fixture, encrypts: false) == 0)
  }

  /// A folder that cannot be removed stands where the file is to be converted to: the conversion ends there,
  /// as after a crash, and is continued without it.
  @Test(
    "An interrupted conversion refuses a start and the other direction, and is continued",
    arguments: [true, false])
  func isContinued(encrypts: Bool) async throws {
    let fixture = try DiskFixture(key: encrypts ? nil : Self.key)
    try await Self.fill(fixture)
    let files = "\(fixture.path)/files"
    let last = try #require(try fixture.blobs().home.max())
    let block = "\(files)/converted/objects/\(last)/block"
    try FileManager.default.createDirectory(atPath: block, withIntermediateDirectories: true)
    #expect {
      try Self.convert(fixture, encrypts: encrypts)
    } throws: { error in
      guard case .failed(let path, _) = error as? FileConversion.Fault else { return false }
      return path == "\(files)/objects/\(last)"
    }
    for key in [nil, Self.key] {
      #expect(throws: FileForm.Fault.converting(encrypts: encrypts)) {
        try FileForm(folder: files).check(key)
      }
    }
    #expect(throws: FileConversion.Fault.otherDirection(encrypts: encrypts)) {
      try Self.convert(fixture, encrypts: !encrypts)
    }
    #expect(throws: FileConversion.Fault.otherKey) {
      try Self.convert(
        fixture, encrypts: encrypts, key: SymmetricKey(data: [UInt8](repeating: 8, count: 32)))
    }
    try FileManager.default.removeItem(atPath: "\(files)/converted/objects/\(last)")
    #expect(try Self.convert(fixture, encrypts: encrypts) > 0)
    try await Self.expectAll(fixture, key: encrypts ? Self.key : nil, note: "continued")
  }

  @Test("A conversion that was interrupted while folders were moved is completed")
  func movesAreCompleted() async throws {
    let fixture = try DiskFixture()
    try await Self.fill(fixture)
    let files = "\(fixture.path)/files"
    _ = try Self.convert(fixture, encrypts: true)
    // As if it had been killed after it moved the first of two folders.
    let record = try String(contentsOfFile: "\(files)/encryption", encoding: .utf8)
    try record.replacing("\nencrypted\n", with: "\nmoving to encrypted\n")
      .write(toFile: "\(files)/encryption", atomically: true, encoding: .utf8)
    try FileManager.default.createDirectory(
      atPath: "\(files)/converted", withIntermediateDirectories: false)
    try FileManager.default.moveItem(
      atPath: "\(files)/objects", toPath: "\(files)/converted/objects")
    try FileManager.default.createDirectory(
      atPath: "\(files)/objects/00", withIntermediateDirectories: true)
    #expect(throws: FileForm.Fault.converting(encrypts: true)) {
      try FileForm(folder: files).check(Self.key)
    }
    #expect(try Self.convert(fixture, encrypts: true) == 0)
    try await Self.expectAll(fixture, key: Self.key, note: "completed")
  }

  @Test("Links and other things among the files are named before the first file is converted")
  func foreignNames() async throws {
    let fixture = try DiskFixture()
    try await Self.fill(fixture)
    let (files, manager) = ("\(fixture.path)/files", FileManager.default)
    let home = try #require(try fixture.blobs().home.first)
    let used = String(home.prefix(2))
    let free = try #require(["00", "01"].first { $0 != used })
    let moved = "\(fixture.path)/moved"
    try manager.moveItem(atPath: "\(files)/objects/\(free)", toPath: moved)
    try manager.createSymbolicLink(
      atPath: "\(files)/objects/\(free)", withDestinationPath: moved)
    try Data([1]).write(to: URL(filePath: "\(files)/objects/\(used)/notes.txt"))
    try Data([1]).write(to: URL(filePath: "\(files)/objects/lost"))
    #expect {
      try Self.convert(fixture, encrypts: true)
    } throws: { error in
      guard case .foreign(let paths) = error as? FileConversion.Fault else { return false }
      return Set(paths) == [
        "\(files)/objects/\(free)", "\(files)/objects/\(used)/notes.txt", "\(files)/objects/lost",
      ]
    }
    for path in ["\(free)", "\(used)/notes.txt", "lost"] {
      try manager.removeItem(atPath: "\(files)/objects/\(path)")
    }
    try manager.moveItem(atPath: moved, toPath: "\(files)/objects/\(free)")
    #expect(try Self.convert(fixture, encrypts: true) > 0)
    try await Self.expectAll(fixture, key: Self.key, note: "after the names were removed")
  }

  @Test("Files in use, and those of another key, are left as they are")
  func refusals() async throws {
    let fixture = try DiskFixture()
    try await Self.fill(fixture)
    #expect(throws: FileConversion.Fault.inUse) {
      try Self.convert(fixture, encrypts: true, isInUse: true)
    }
    try await Self.expectAll(fixture, key: nil, note: "in use")
    _ = try Self.convert(fixture, encrypts: true)
    let other = SymmetricKey(data: [UInt8](repeating: 8, count: 32))
    for encrypts in [true, false] {
      #expect(throws: FileConversion.Fault.otherKey) {
        try Self.convert(fixture, encrypts: encrypts, key: other)
      }
    }
    #expect(throws: FileConversion.Fault.inUse) {
      try Self.convert(fixture, encrypts: false, isInUse: true)
    }
    try await Self.expectAll(fixture, key: Self.key, note: "another key")
  }
}
