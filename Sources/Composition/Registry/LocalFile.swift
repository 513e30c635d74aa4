import FoundationEssentials
import Model
import Upstream

/// The file of local types, where there is one.
struct LocalFile {
  let schema: LocalSchema
  let views: [EntityView]

  /// - Returns: no file where it is faulty.
  static func read(
    _ settings: Settings, beside registry: OperationRegistry
  ) -> (file: LocalFile?, findings: [Finding]) {
    guard FileManager.default.fileExists(atPath: settings.localFile) else {
      return (LocalFile(schema: .none, views: []), [])
    }
    switch OperationFiles.read(file: settings.localFile) {
    case .failure(let unreadable):
      return (nil, [unreadable.finding])
    case .success(let file):
      var reader = LocalSchemaReader(
        catalogue: registry.catalogue, viewNames: Set(registry.views.keys))
      let (schema, findings) = reader.read(file)
      return (
        schema.map { LocalFile(schema: $0.applying(settings.types), views: reader.views) },
        findings
      )
    }
  }
}

extension LocalSchema {
  /// The types with what settings say of them.
  fileprivate func applying(_ settings: [String: TypeSettings]) -> LocalSchema {
    LocalSchema(
      types: types.mapValues { type in
        guard let told = settings[type.name] else { return type }
        return type.with(
          indexes: told.index, search: told.search, dates: told.dates ?? .iso8601)
      }, objects: objects, enums: enums)
  }
}
