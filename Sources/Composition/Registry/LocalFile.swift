import FoundationEssentials
import Model
import Upstream

/// The file of local types, where there is one.
enum LocalFile {
  /// - Returns: no schema where the file is faulty.
  static func read(
    _ settings: Settings, catalogue: EntityCatalogue
  ) -> (schema: LocalSchema?, findings: [Finding]) {
    guard FileManager.default.fileExists(atPath: settings.localFile) else {
      return (LocalSchema.none, [])
    }
    switch OperationFiles.read(file: settings.localFile) {
    case .failure(let unreadable):
      return (nil, [unreadable.finding])
    case .success(let file):
      var reader = LocalSchemaReader(catalogue: catalogue)
      return reader.read(file)
    }
  }
}
