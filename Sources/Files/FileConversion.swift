package import Cryptography
import Glibc
package import Storage
import Transport

/// Encrypts or decrypts all files of a folder that no service uses.
///
/// Converted files are built in the folder `converted`, whose folders then take the places of the old ones.
/// A file is removed from its old place only when its new form is synced, so an interrupted conversion
/// continues where it ended. It needs free space for the files of one folder, a 256th of all, and for each
/// copy of an object, which shared its content before.
package struct FileConversion {
  /// The reason why the files were not converted.
  package enum Fault: Error, Hashable, Sendable {
    /// A service uses the files.
    case inUse
    /// The files are encrypted with another key.
    case otherKey
    /// The conversion into the other form must be completed first.
    case otherDirection(encrypts: Bool)
    /// Links and other things among the files, which a conversion would lose or fail at. Nothing was
    /// converted.
    case foreign(paths: [String])
    /// - Parameter path: the file that cannot be converted, or the folder.
    case failed(path: String, reason: String)
  }

  private let form: FileForm
  private let key: SymmetricKey
  private let encrypts: Bool
  private let random: () -> UInt64
  private let progress: WorkProgress
  private var folder: String { form.folder }
  private var converted: String { "\(folder)/converted" }

  /// - Parameters:
  ///   - folder: of the files, with `objects` and `incoming`.
  ///   - key: the one that encrypts or decrypts.
  ///   - encrypts: the wanted form.
  ///   - random: a new, unguessable number for each call.
  package init(
    folder: String, key: SymmetricKey, encrypts: Bool, random: @escaping () -> UInt64,
    progress: WorkProgress = .ignored
  ) {
    self.progress = progress
    form = FileForm(folder: folder)
    self.key = key
    self.encrypts = encrypts
    self.random = random
  }

  /// Blocks until all files are converted.
  ///
  /// - Parameter isInUse: whether a service uses the files. It is asked after the record says that a
  ///   conversion has begun, so a service that starts at the same time finds that.
  /// - Returns: the number of converted files; 0 if they had the wanted form.
  package func run(isInUse: () -> Bool) throws(Fault) -> Int {
    let check = FileForm.check(of: key)
    var before = try recorded()
    // With a lost record, files must not be encrypted twice.
    if before == nil, try holdsEncrypted() {
      before = .encrypted(check: check)
      try note(before)
    }
    switch before {
    case .encrypted(let other) where other != check: throw .otherKey
    case .converting(_, let other) where other != check: throw .otherKey
    case .moving(_, let other) where other != check: throw .otherKey
    case .converting(let other, _) where other != encrypts: throw .otherDirection(encrypts: other)
    case .moving(let other, _) where other != encrypts: throw .otherDirection(encrypts: other)
    case .encrypted where encrypts: return 0
    case nil where !encrypts: return 0
    case nil, .encrypted:
      try checkNames()
      try note(.converting(encrypts: encrypts, check: check))
    case .converting, .moving: break
    }
    if isInUse() {
      try note(before)
      throw .inUse
    }
    var count = 0
    if case .moving = before {
    } else {
      count = try convert()
      try note(.moving(encrypts: encrypts, check: check))
    }
    try move()
    try note(encrypts ? .encrypted(check: check) : nil)
    return count
  }

  /// Checks that the folders of files are folders, and hold files of the store alone.
  private func checkNames() throws(Fault) {
    let spread = Set(BlobFolder.spread)
    var foreign: [String] = []
    for path in BlobFolder.folders(below: folder).dropFirst() {
      guard let type = Self.type(path) else { continue }
      guard type == S_IFDIR else {
        foreign.append(path)
        continue
      }
      let isParent = path == "\(folder)/objects"
      let names: [String]
      do throws(DiskError) { names = try BlobFolder.names(in: path) } catch {
        throw failure(path, error)
      }
      for name in names.sorted() {
        let own = "\(path)/\(name)"
        // The folders themselves are checked in their turn.
        if isParent, spread.contains(name) { continue }
        if isParent || BlobName(name) == nil || Self.type(own) != S_IFREG { foreign.append(own) }
      }
    }
    guard foreign.isEmpty else { throw .foreign(paths: foreign) }
  }

  /// The type of a file, not followed if it is a link; nil if there is none.
  private static func type(_ path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  // MARK: Converting

  private func convert() throws(Fault) -> Int {
    var count = 0
    let targets = BlobFolder.folders(below: converted)
    for target in targets where mkdir(target, 0o700) != 0 && errno != EEXIST {
      throw failure(target, DiskError("mkdir"))
    }
    try sync(folder)
    for (index, (source, target)) in zip(BlobFolder.folders(below: folder), targets).enumerated() {
      progress.report(index, of: targets.count)
      let blobs: [BlobName]
      do throws(DiskError) {
        blobs = try BlobFolder.files(in: source)
      } catch {
        // The folder of files is created with the first start.
        guard error.isAbsent else { throw failure(source, error) }
        continue
      }
      for blob in blobs {
        try convert("\(source)/\(blob.text)", to: "\(target)/\(blob.text)")
      }
      try sync(target)
      for blob in blobs where unlink("\(source)/\(blob.text)") != 0 && errno != ENOENT {
        throw failure("\(source)/\(blob.text)", DiskError("unlink"))
      }
      count += blobs.count
    }
    return count
  }

  private func convert(_ source: String, to target: String) throws(Fault) {
    let new = "\(target).new"
    do throws(DiskError) {
      if unlink(new) != 0, errno != ENOENT { throw DiskError("unlink") }
      let file: OpenFile
      do throws(SystemError) { file = try OpenFile(path: source) } catch { throw DiskError(error) }
      let content = try BlobContent(file, key: encrypts ? nil : key)
      let made = try IncomingFile(
        making: new,
        encrypting: encrypts ? BlobFolder(path: folder, key: key).cipher(random) : nil)
      try content.append(to: made)
      try made.sync()
      guard rename(new, target) == 0 else { throw DiskError("rename") }
    } catch {
      throw failure(source, error)
    }
  }

  // MARK: Moving

  /// Moves the folders of converted files into place. Those of before have no files any more; one that is
  /// already moved is not among the converted.
  private func move() throws(Fault) {
    for part in ["incoming", "objects"] {
      let (source, target) = ("\(converted)/\(part)", "\(folder)/\(part)")
      guard access(source, F_OK) == 0 else { continue }
      let old = BlobFolder.folders(below: folder).filter {
        $0 == target || $0.hasPrefix("\(target)/")
      }
      for path in old.reversed() where rmdir(path) != 0 && errno != ENOENT {
        throw failure(path, DiskError("rmdir"))
      }
      guard rename(source, target) == 0 else { throw failure(target, DiskError("rename")) }
    }
    if rmdir(converted) != 0, errno != ENOENT { throw failure(converted, DiskError("rmdir")) }
    try sync(folder)
  }

  // MARK: The record

  private func recorded() throws(Fault) -> FileForm.Record? {
    do throws(FileForm.Fault) {
      return try form.record()
    } catch {
      throw .failed(path: folder, reason: "\(error)")
    }
  }

  private func holdsEncrypted() throws(Fault) -> Bool {
    do throws(FileForm.Fault) {
      return try form.holdsEncrypted(key)
    } catch {
      throw .failed(path: folder, reason: "\(error)")
    }
  }

  private func note(_ record: FileForm.Record?) throws(Fault) {
    do throws(FileForm.Fault) {
      try form.set(record)
    } catch {
      throw .failed(path: folder, reason: "\(error)")
    }
  }

  private func sync(_ path: String) throws(Fault) {
    do throws(DiskError) { try BlobFolder.sync(folder: path) } catch { throw failure(path, error) }
  }

  private func failure(_ path: String, _ error: DiskError) -> Fault {
    .failed(path: path, reason: "\(error)")
  }
}
