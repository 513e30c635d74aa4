import CLinux
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Transport

struct FolderWalkTests {
  /// A volume as Kubernetes mounts a ConfigMap: its names lead through `..data`, a link that is
  /// renamed over by the next version's.
  private struct Volume {
    private let home: TestFolder
    private var folder: String?

    var root: String { "\(home.path)/volume" }

    init() throws {
      home = try TestFolder("volume")
      try Self.check(mkdir(root, 0o700))
      try swap(to: "1")
      try Self.check(symlink("..data/index.html", "\(root)/index.html"))
      try Self.check(symlink("..data/sub", "\(root)/sub"))
    }

    /// Puts version `text` in the place of the one there is, which is removed.
    mutating func swap(to text: String) throws {
      let (previous, folder) = (folder, "..2026_01_31_\(text)")
      try Self.check(mkdir("\(root)/\(folder)", 0o700))
      try Self.check(mkdir("\(root)/\(folder)/sub", 0o700))
      try Self.write(text, to: "\(root)/\(folder)/index.html")
      try Self.write(text, to: "\(root)/\(folder)/sub/deep.html")
      try Self.check(symlink(folder, "\(root)/..data_tmp"))
      try Self.check(rename("\(root)/..data_tmp", "\(root)/..data"))
      self.folder = folder
      guard let previous else { return }
      for name in ["index.html", "sub/deep.html"] { unlink("\(root)/\(previous)/\(name)") }
      for name in ["/sub", ""] { rmdir("\(root)/\(previous)\(name)") }
    }

    private static func write(_ text: String, to path: String) throws {
      let file = open(path, O_CREAT | O_WRONLY, 0o600)
      try check(file)
      defer { close(file) }
      try check(Int32(Glibc.write(file, text, text.utf8.count)))
    }

    static func check(_ result: Int32) throws {
      if result < 0 { throw SystemError("volume") }
    }
  }

  private final class Count: Sendable {
    private let number = Atomic(0)
    var value: Int { number.load(ordering: .relaxed) }
    func add() { number.wrappingAdd(1, ordering: .relaxed) }
  }

  private static func text(_ names: [String], below folder: String) throws -> String {
    let file = try OpenFile(names, below: folder)
    return String(decoding: try file.read(file.byteCount, from: 0), as: UTF8.self)
  }

  @Test("A volume of links is read in its newest version")
  func readsNewestVersionOfALinkedVolume() throws {
    var volume = try Volume()
    #expect(try Self.text(["index.html"], below: volume.root) == "1")
    #expect(try Self.text(["sub", "deep.html"], below: volume.root) == "1")
    try volume.swap(to: "2")
    #expect(try Self.text(["index.html"], below: volume.root) == "2")
    #expect(try Self.text(["sub", "deep.html"], below: volume.root) == "2")
  }

  /// No moment of a swap shows: neither a missing file nor an older version than before. Each swap
  /// comes while the version before it is being read, or soon after.
  @Test("A swap of a folder is never seen half done")
  func swapIsAtomicForReaders() async throws {
    let volume = try Volume()
    let versions = 100
    let isOver = Atomic(false)
    let reads = Count()
    let writer = Task { [volume] in
      defer { isOver.store(true, ordering: .relaxed) }
      var volume = volume
      for version in 2...versions {
        let before = reads.value
        try volume.swap(to: "\(version)")
        while reads.value == before, !Task.isCancelled { await Task.yield() }
      }
    }
    defer { writer.cancel() }
    var seen = 1
    while !isOver.load(ordering: .relaxed) {
      for names in [["index.html"], ["sub", "deep.html"]] {
        let version = try #require(Int(try Self.text(names, below: volume.root)))
        #expect(version >= seen)
        seen = version
        reads.add()
      }
      await Task.yield()
    }
    try await writer.value
    #expect(try Self.text(["index.html"], below: volume.root) == "\(versions)")
  }

  /// A folder on the way is swapped, again and again, for a link that leads out.
  @Test("A race with renames never leads out of the folder")
  func racesNeverLeaveTheFolder() async throws {
    let home = try TestFolder("walk")
    defer { home.remove() }
    let base = home.path
    for folder in ["root", "root/inside", "root/other", "outside"] {
      try Volume.check(mkdir("\(base)/\(folder)", 0o700))
      let file = open("\(base)/\(folder)/name", O_CREAT | O_WRONLY, 0o600)
      let text = folder.hasPrefix("root") ? "inside" : "secret"
      Glibc.write(file, text, text.utf8.count)
      close(file)
    }
    let isOver = Atomic(false)
    let attacker = Task {
      defer { isOver.store(true, ordering: .relaxed) }
      for round in 0..<2000 {
        let target = ["inside", "../outside", "other/../../outside", "other"][round % 4]
        symlink(target, "\(base)/root/next")
        rename("\(base)/root/next", "\(base)/root/way")
        if round % 16 == 0 {
          // The folder itself leaves, and comes back: `..` from it would lead elsewhere.
          rename("\(base)/root/inside", "\(base)/inside")
          rename("\(base)/inside", "\(base)/root/inside")
        }
        if round % 64 == 0 { await Task.yield() }
      }
    }
    var reads = 0
    while !isOver.load(ordering: .relaxed) {
      if let text = try? Self.text(["way", "name"], below: "\(base)/root") {
        #expect(text == "inside")
        reads += 1
      }
      await Task.yield()
    }
    await attacker.value
    #expect(reads > 0)
  }

  @Test("As many links are followed as by the kernel")
  func followsAsManyLinksAsTheKernel() throws {
    let folder = try TestFolder("links")
    defer { folder.remove() }
    let root = folder.path
    close(open("\(root)/0", O_CREAT | O_WRONLY, 0o600))
    for number in 1...(FolderWalk.linksMax + 1) {
      try Volume.check(symlink("\(number - 1)", "\(root)/\(number)"))
    }
    #expect(try Self.text(["\(FolderWalk.linksMax)"], below: root) == "")
    #expect(throws: SystemError("openat", code: ELOOP)) {
      try OpenFile(["\(FolderWalk.linksMax + 1)"], below: root)
    }
  }
}
