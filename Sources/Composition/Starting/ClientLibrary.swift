import Cryptography
import Endpoints
import Model

/// The JavaScript client library inside the binary.
enum ClientLibrary {
  /// The folder of its modules, relative to the root of the sources.
  static let folder = "Clients/JavaScript/src"

  /// The bytes of a digest that are part of a tag.
  private static let digestBytes = 12

  /// The modules by the names of their files, read from the binary once.
  private static let files: [String: ClientLibraryFile] = {
    let prefix = "\(folder)/"
    return ShippedFiles.embedded.reduce(into: [:]) { files, file in
      guard file.path.hasPrefix(prefix) else { return }
      let digest = Base64URL.encode(SHA256.hash(data: file.bytes).prefix(digestBytes))
      files[String(file.path.dropFirst(prefix.count))] = ClientLibraryFile(
        bytes: file.bytes, tag: "\(Version.text)-\(digest)")
    }
  }()

  /// Returns a module by the name of its file; nil if the binary has none of that name.
  static func file(_ name: String) -> ClientLibraryFile? { files[name] }
}
