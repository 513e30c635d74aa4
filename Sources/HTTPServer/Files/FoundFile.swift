import HTTPWire
import Transport

/// What a path below a folder leads to.
enum FoundFile: Sendable {
  /// A file and its variants.
  struct Variants: Sendable {
    /// Its own name, without folders.
    let name: String
    let plain: OpenFile
    /// `x.gz` beside `x`, unless it is older, which is then a variant of something that was.
    let compressed: OpenFile?

    /// Whether it is worth compressing on its way out.
    var isCompressible: Bool {
      compressed == nil && plain.byteCount <= StaticFiles.compressibleBytesMax
        && CompressibleTypes.contains(ContentTypes.type(of: name))
    }
  }

  case file(Variants)
  case folder
  case nothing

  /// Opens what is there. Blocks.
  static func find(_ names: [String], below folder: String) -> FoundFile {
    guard let name = names.last else { return .nothing }
    do throws(SystemError) {
      let plain = try OpenFile(names, below: folder)
      let compressed = try? OpenFile(names.dropLast() + ["\(name).gz"], below: folder)
      let isFresh = compressed.map { $0.modifiedSeconds >= plain.modifiedSeconds } ?? false
      return .file(
        Variants(name: name, plain: plain, compressed: isFresh ? compressed : nil))
    } catch {
      return error.isFolder ? .folder : .nothing
    }
  }
}

extension SystemError {
  /// EISDIR.
  fileprivate var isFolder: Bool { code == 21 }
}
