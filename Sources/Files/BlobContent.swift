import Cryptography
import Glibc
import Storage
import Transport

/// A stored file opened for reading, which is decrypted if it was stored encrypted. All methods block.
struct BlobContent: Sendable {
  private struct Frames {
    let cipher: FrameCipher
    let layout: FrameLayout
  }

  /// Bytes that a copy reads at once.
  private static let copyBytes = 1 << 20

  /// The file as it is on the disk.
  let file: OpenFile
  /// Named in errors; nil for a file that is not yet one of the store's.
  private let blob: BlobName?
  /// Nil for a file that was stored as it is.
  private let frames: Frames?

  /// - Parameter key: nil for a file that was stored as it is.
  init(_ file: OpenFile, key: SymmetricKey?, of blob: BlobName? = nil) throws(DiskError) {
    self.file = file
    self.blob = blob
    guard let key else {
      frames = nil
      return
    }
    let header = try Self.read(FrameLayout.headerBytes, from: 0, of: file, blob)
    guard let cipher = FrameCipher(root: key, header: header),
      let layout = FrameLayout(sealedBytes: file.byteCount)
    else { throw DiskError(AES.GCM.Fault.notAuthentic).reading(blob) }
    frames = Frames(cipher: cipher, layout: layout)
  }

  /// - Parameter file: stored as it is.
  init(plain file: OpenFile) {
    self.file = file
    blob = nil
    frames = nil
  }

  var isEncrypted: Bool { frames != nil }

  /// The length of the content.
  var byteCount: Int { frames?.layout.textBytes ?? file.byteCount }

  /// Reads up to `count` bytes from `offset`; fewer only at the end. Of an encrypted file, it reads and
  /// decrypts the frames that hold them and no others.
  func read(_ count: Int, from offset: Int) throws(DiskError) -> [UInt8] {
    guard let frames else { return try Self.read(count, from: offset, of: file, blob) }
    let layout = frames.layout
    let start = min(offset, layout.textBytes)
    let range = start..<min(start + count, layout.textBytes)
    let numbers = layout.frames(of: range)
    let place = layout.sealedRange(of: numbers)
    let text: [UInt8]
    do throws(DiskError) {
      text = try frames.cipher.open(numbers, of: layout) { buffers throws(DiskError) in
        let got: Int
        do throws(SystemError) {
          got = try file.read(into: buffers, from: place.lowerBound)
        } catch {
          throw DiskError(error)
        }
        guard got == place.count else { throw DiskError(AES.GCM.Fault.notAuthentic) }
      }
    } catch {
      throw error.reading(blob)
    }
    let whole = layout.textRange(of: numbers)
    guard range != whole else { return text }
    return Array(text[range.lowerBound - whole.lowerBound..<range.upperBound - whole.lowerBound])
  }

  /// Appends the whole content to a file that is being written.
  func append(to target: IncomingFile) throws(DiskError) {
    var offset = 0
    while offset < byteCount {
      let piece = try read(Self.copyBytes, from: offset)
      guard !piece.isEmpty else { throw DiskError("read", code: EIO).reading(blob) }
      try target.write(piece)
      offset += piece.count
    }
  }

  private static func read(
    _ count: Int, from offset: Int, of file: OpenFile, _ blob: BlobName?
  ) throws(DiskError) -> [UInt8] {
    do throws(SystemError) {
      return try file.read(count, from: offset)
    } catch {
      throw DiskError(error).reading(blob)
    }
  }
}

extension BlobFolder {
  /// The encryption of one new file; nil for files that are stored as they are.
  ///
  /// - Parameter random: a new, unguessable number for each call.
  func cipher(_ random: () -> UInt64) -> FrameCipher? {
    key.map { FrameCipher(root: $0, random: random) }
  }

  /// Appends the content of a stored file to one that is being written: by the kernel, or encrypted
  /// again, since frames do not continue those of another file.
  ///
  /// - Returns: false if the stored file does not exist.
  func append(_ blob: BlobName, to file: IncomingFile) throws(DiskError) -> Bool {
    if key != nil {
      guard let content = try open(blob) else { return false }
      try content.append(to: file)
      return true
    }
    for path in [objectPath(blob), incomingPath(blob), objectPath(blob)] {
      do throws(DiskError) {
        try file.append(contentsOf: path)
        return true
      } catch {
        guard error.isAbsent else { throw error }
      }
    }
    return false
  }
}
