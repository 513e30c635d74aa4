import CResources
import GraphQL

/// The type system of the demo: `Examples/films/schema.graphql`, which is part of the binary.
enum FilmsSchema {
  /// Built once. The text is sound, as its test checks.
  static let schema: Schema = {
    let source = Source(name: "films.graphql", body: sdl)
    return Schema.buildRecovering([Parser.parseRecovering(source).document]).schema
  }()

  static let sdl: String = {
    var index = 0
    while let file = larder_resource_at(index)?.pointee {
      if let path = file.path, String(cString: path) == "Examples/films/schema.graphql" {
        return String(
          decoding: UnsafeBufferPointer(start: file.bytes, count: file.count), as: UTF8.self)
      }
      index += 1
    }
    return ""
  }()
}
